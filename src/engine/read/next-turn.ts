/** Work for the next microtask. */
export interface TurnWork {
  /** It is among the work for the next microtask. Only this module sets it. */
  isQueued: boolean;
  run(): void;
}

let queue: TurnWork[] = [];

/** Runs the work after the current code, once, in one microtask with all other work: a commit wakes the readers of many tasks. */
export function runNextTurn(work: TurnWork): void {
  if (work.isQueued) return;
  work.isQueued = true;
  if (queue.push(work) === 1) queueMicrotask(runQueue);
}

function runQueue(): void {
  const works = queue;
  queue = [];
  for (const work of works) {
    work.isQueued = false;
    try {
      work.run();
    } catch (error) {
      // It must not keep the others from running.
      queueMicrotask(() => {
        throw error;
      });
    }
  }
}
