import type { CallHost } from "./context-host.ts";

/**
 * Waits for a time. The end of the sleep is stored, so that an attempt after a restart sleeps only for the rest. Throws a `TypeError` if
 * `milliseconds` is not a number of at least 0.
 */
export async function sleep(
  host: CallHost,
  milliseconds: number,
  { name = "" }: { readonly name?: string },
): Promise<void> {
  if (!(milliseconds >= 0))
    throw new TypeError(`sleep() needs a number of milliseconds of at least 0, not ${String(milliseconds)}.`);
  const { memory, writer, run } = host;
  const waits = run.waits();
  const key = memory.key("sleep", name);
  const known = memory.recall(key);
  const until = known?.kind === "asleep" ? known.until : run.now() + milliseconds;
  if (known === undefined) {
    memory.remember(key, { kind: "asleep", until });
    run.observer.opened("wait", key);
  }
  if (until > run.now()) {
    waits.pause(until);
    await writer.flush();
    await waits.wait({ poll: () => undefined, until, pauses: true, parks: true });
    host.requireOpen();
    waits.resume();
    run.observer.closed("wait", key, "completed");
    return;
  }
  run.observer.slept(key, until);
  if (writer.runner.pausedAt !== undefined) waits.resume();
  await writer.flush();
}
