import type { Task } from "../protocol/task.ts";
import type { RemoteStream, RemoteStreamEvent, Sent } from "./api.ts";
import { RemoteError } from "./http/errors.ts";

/** Where a stream gets its events and its task. */
export interface StreamSource {
  /** Starts when the first event is read. */
  readonly events: AsyncGenerator<RemoteStreamEvent, void>;
  /** The task after the latest event; `undefined` before the first one. */
  readonly task: () => Task | undefined;
}

/** A stream over one source. A second iteration continues where the first stopped. */
export function createRemoteStream({ events, task }: StreamSource): RemoteStream {
  let last: RemoteStreamEvent | undefined;
  const iterator: AsyncIterator<RemoteStreamEvent, void> = {
    async next() {
      const step = await events.next();
      if (step.done !== true) last = step.value;
      return step;
    },
    return: () => events.return(),
  };
  return {
    get task() {
      return task();
    },
    [Symbol.asyncIterator]: () => iterator,
    async result(): Promise<Sent> {
      for (let step = await iterator.next(); step.done !== true; step = await iterator.next());
      if (last?.kind === "message") return { kind: "message", message: last.message };
      const end = task();
      if (end === undefined) throw new RemoteError("aborted", "Reading stopped before the first event.");
      return { kind: "task", task: end };
    },
  };
}
