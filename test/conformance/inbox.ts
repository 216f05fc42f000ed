import { type Behaviour, type Received, Receiver } from "../push/receiver.ts";

/** Somewhere that webhooks lead to, whose post is read one piece at a time. */
export interface Inbox extends AsyncDisposable {
  /** An address of it; each path is as good as another. */
  url(path?: string): string;
  /** The next one that arrives, or has arrived and was not read yet. */
  next(): Promise<Received>;
  /** Those up to the one that is wanted, which is among them. */
  until(wanted: (received: Received) => boolean): Promise<readonly Received[]>;
  /** Everything that has arrived, read or not. */
  readonly received: readonly Received[];
}

/** `behave` says how it answers; without it, it takes everything. */
export async function openInbox(behave?: Behaviour): Promise<Inbox> {
  let arrived = Promise.withResolvers<void>();
  let read = 0;
  const receiver = await Receiver.open((received, response) => {
    arrived.resolve();
    arrived = Promise.withResolvers<void>();
    return behave?.(received, response);
  });
  const next = async (): Promise<Received> => {
    for (;;) {
      const received = receiver.received[read];
      if (received !== undefined) {
        read += 1;
        return received;
      }
      await arrived.promise;
    }
  };
  return {
    received: receiver.received,
    url: (path = "/hook") => receiver.url + path,
    next,
    async until(wanted) {
      const all: Received[] = [];
      for (;;) {
        const received = await next();
        all.push(received);
        if (wanted(received)) return all;
      }
    },
    [Symbol.asyncDispose]: () => receiver.close(),
  };
}
