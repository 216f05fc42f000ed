import type { Clock } from "../../internal/clock.ts";

/** Milliseconds between pings. The usual gRPC servers close a connection that sends them more often than every 5 minutes. */
const PING_INTERVAL = 310_000;
/** Milliseconds that the answer to a ping may take. */
const PING_TIMEOUT = 20_000;

/** What is used of an HTTP/2 session. */
interface Session {
  readonly destroyed: boolean;
  ping(answered: (error: Error | null) => void): boolean;
  destroy(error: Error): void;
  on(event: "close", closed: () => void): unknown;
}

/** Closes a connection whose server does not answer pings: it is gone, although the connection looks open. */
export function keepAlive(session: Session, clock: Clock): void {
  const after = (wait: number, action: () => void) => clock.setTimer(clock.now() + wait, action, { unref: true });
  const ping = (): void => {
    timer = after(PING_TIMEOUT, () => session.destroy(new Error(`no answer to a ping for ${PING_TIMEOUT} ms`)));
    session.ping((error) => {
      if (error !== null || session.destroyed) return;
      timer.cancel();
      timer = after(PING_INTERVAL, ping);
    });
  };
  let timer = after(PING_INTERVAL, ping);
  session.on("close", () => timer.cancel());
}
