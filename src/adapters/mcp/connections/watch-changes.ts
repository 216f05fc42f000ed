import type { Client, McpSubscription } from "@modelcontextprotocol/client";

/** Milliseconds before a lost subscription is opened again, at first and at most. */
const FIRST_PAUSE = 1000;
const LONGEST_PAUSE = 60_000;

/**
 * Keeps the subscription to changes of a server of 2026-07-28 open: the client does not open it again after it was lost. `onChanged` is called after each reopening,
 * because changes may have been missed. Ends with the client.
 */
export function watchChanges(client: Client, onChanged: () => void): { stop(): void } {
  let timer: NodeJS.Timeout | undefined;
  let isStopped = false;
  const follow = (subscription: McpSubscription, pause: number): void => {
    void subscription.closed.then((reason) => {
      if (reason !== "local") reopen(subscription.honoredFilter, pause);
    });
  };
  const reopen = (filter: McpSubscription["honoredFilter"], pause: number): void => {
    if (isStopped) return;
    timer = setTimeout(() => {
      const opening = client.listen(filter).then((subscription) => {
        onChanged();
        follow(subscription, FIRST_PAUSE);
      });
      opening.catch(() => reopen(filter, Math.min(pause * 2, LONGEST_PAUSE)));
    }, pause);
    // It does not keep the process alive.
    timer.unref();
  };
  const first = client.autoOpenedSubscription;
  if (first !== undefined) follow(first, FIRST_PAUSE);
  return {
    stop() {
      isStopped = true;
      clearTimeout(timer);
    },
  };
}
