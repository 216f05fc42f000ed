/** A notification of progress. */
export interface ProgressNote {
  readonly method: "notifications/progress";
  readonly params: { readonly progressToken: string | number; readonly progress: number; readonly message: string };
}

/** Milliseconds between two notifications: a fast stream must not fill the memory of a slow reader's connection. */
const PAUSE = 100;

/** Sends what a task does as progress; `undefined` if the client did not ask for it. */
export function createProgress(
  token: string | number | undefined,
  send: (note: ProgressNote) => Promise<void>,
): ((seq: number, text: string) => void) | undefined {
  if (token === undefined) return undefined;
  let last = Number.NEGATIVE_INFINITY;
  let isSending = false;
  return (seq, message) => {
    const now = performance.now();
    if (isSending || now - last < PAUSE) return;
    last = now;
    isSending = true;
    // A client that is gone needs no progress; the call itself notices.
    send({ method: "notifications/progress", params: { progressToken: token, progress: seq, message } })
      .catch(() => undefined)
      .finally(() => {
        isSending = false;
      });
  };
}
