/** Resolves in the event loop's next turn, so that everything else that is ready comes first. */
export function nextTurn(): Promise<void> {
  return new Promise((resolve) => {
    setImmediate(resolve);
  });
}
