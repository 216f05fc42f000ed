import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { text } from "node:stream/consumers";

/** A service outside of the killed server, which counts payments. */
export interface Ledger extends AsyncDisposable {
  readonly url: string;
  /** How often each payment was made, by `task/n`. */
  readonly payments: ReadonlyMap<string, number>;
}

/** Milliseconds from the effect to the answer, so that kills come in between. */
const ANSWER_DELAY = 15;

export async function openLedger(): Promise<Ledger> {
  const payments = new Map<string, number>();
  const server = createServer((request, response) => {
    void text(request).then((body) => {
      const { task, n }: { task: string; n: number } = JSON.parse(body);
      payments.set(`${task}/${n}`, (payments.get(`${task}/${n}`) ?? 0) + 1);
      setTimeout(() => response.end(), ANSWER_DELAY);
    });
  });
  await new Promise<void>((resolve) => void server.listen(0, "127.0.0.1", resolve));
  // Safe cast: the ledger listens on a port.
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}/`,
    payments,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise<void>((resolve) => void server.close(() => resolve()));
    },
  };
}
