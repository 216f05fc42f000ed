import { type Behaviour, type Received, Receiver } from "../push/receiver.ts";

/** A webhook receiver whose notifications are read one at a time. */
export interface Inbox extends AsyncDisposable {
  /** The URL of the receiver; any path works. */
  url(path?: string): string;
  /** The next unread notification; waits for it if necessary. */
  next(): Promise<Received>;
  /** The notifications up to and including the first that matches. */
  until(wanted: (received: Received) => boolean): Promise<readonly Received[]>;
  /** All notifications that have arrived, read or unread. */
  readonly received: readonly Received[];
}

/** `behave` decides the response; the default accepts everything. */
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
