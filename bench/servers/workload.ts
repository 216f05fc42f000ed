/**
 * The work that a message text requests from the agents under test. All servers use this file, so that all do the same
 * work.
 */
export type Workload =
  /** One short answer. */
  | { readonly kind: "answer" }
  /** `count` chunks of `bytes` bytes, as fast as they are accepted, after a pause in which readers may join. */
  | { readonly kind: "chunks"; readonly count: number; readonly bytes: number; readonly delayMs: number }
  /** `count` chunks at a constant rate, each with the time it was written. */
  | { readonly kind: "paced"; readonly count: number; readonly perSecond: number }
  /**
   * `count` numbered chunks at a constant rate. The rate counts from the first start of the task, so a node that takes it over replays its chunks
   * without pauses, and goes on at once.
   */
  | { readonly kind: "resumed"; readonly count: number; readonly perSecond: number }
  /** Works until it is stopped and writes nothing. */
  | { readonly kind: "wait" }
  /** Asks its caller a question, and waits for the answer. */
  | { readonly kind: "ask" }
  /** Opens so many streams of each of these tasks in the server's own process, reads the first event of each, and keeps them open. */
  | { readonly kind: "subscribe"; readonly ids: readonly string[]; readonly each: number };

export const ANSWER = "The ferry leaves at a quarter past nine from the old harbour; tickets are sold on board.";

export function writeWorkload(workload: Workload): string {
  return JSON.stringify(workload);
}

/** A text that is not a workload gets a short answer. */
export function readWorkload(text: string): Workload {
  return text.startsWith('{"kind":') ? JSON.parse(text) : { kind: "answer" };
}

/** The text of one chunk: its number, then filler up to the requested size. */
export function chunkText(index: number, bytes: number): string {
  const start = `${index} `;
  return (
    start + "lorem ipsum dolor sit amet ".repeat(Math.ceil(bytes / 27)).slice(0, Math.max(0, bytes - start.length))
  );
}

/** Encloses the time of writing in a chunk; occurs nowhere else in a frame. */
export const CLOCK_MARK = "~";

/** Microseconds of the machine's monotonic clock, which all its processes share. */
export function clockMicroseconds(): number {
  return Number(process.hrtime.bigint() / 1000n);
}

/** The text of a paced chunk. */
export function stampedText(): string {
  return `${CLOCK_MARK}${clockMicroseconds()}${CLOCK_MARK} and then `;
}

/** The chunks of a workload, at its rate. */
export async function* produce(workload: Workload): AsyncGenerator<string, void> {
  if (workload.kind === "chunks") yield* chunks(workload);
  else if (workload.kind === "paced") yield* paced(workload);
}

async function* chunks({ count, bytes, delayMs }: Extract<Workload, { kind: "chunks" }>): AsyncGenerator<string, void> {
  if (delayMs > 0) await pause(delayMs);
  const filling = chunkText(0, bytes).slice(2);
  for (let index = 0; index < count; index += 1) yield `${index} ${filling}`;
}

/** Scheduled by the clock instead of by pauses: late chunks catch up, like a model's output. */
async function* paced({ count, perSecond }: Extract<Workload, { kind: "paced" }>): AsyncGenerator<string, void> {
  const start = performance.now();
  for (let index = 0; index < count; index += 1) {
    const wait = start + (index * 1000) / perSecond - performance.now();
    if (wait > 0) await pause(wait);
    yield stampedText();
  }
}

/** The chunks of a `resumed` workload that began at `begin`, in milliseconds since 1970. */
export async function* resumed(
  { count, perSecond }: Extract<Workload, { kind: "resumed" }>,
  begin: number,
): AsyncGenerator<string, void> {
  for (let index = 0; index < count; index += 1) {
    const wait = begin + (index * 1000) / perSecond - Date.now();
    if (wait > 0) await pause(wait);
    yield `${index} and then `;
  }
}

function pause(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}
