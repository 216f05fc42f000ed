const waiting: (() => void)[] = [];

/**
 * Resolves in a later turn of the event loop, so that everything else that is ready comes first. Of several that wait, one goes on per
 * turn: together they keep the others waiting no longer than one of them would.
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
