/** Callers of all parts of the process, oldest first. */
const waiting: (() => void)[] = [];

/**
 * Resolves in a later turn of the event loop, after everything that is ready. Of several waiting callers one continues per turn, so that
 * together they delay other work no more than a single one.
 */
export function nextTurn(): Promise<void> {
  return new Promise((resolve) => {
    waiting.push(resolve);
    if (waiting.length === 1) setImmediate(turn);
  });
}

function turn(): void {
  const next = waiting.shift();
  if (waiting.length > 0) setImmediate(turn);
  next?.();
}
