import type { Artifact } from "../protocol/artifact.ts";
import { ArtifactFold } from "../protocol/fold.ts";
import type { TaskId } from "../protocol/ids.ts";
import { readEvent } from "../protocol/serial.ts";
import type { Store } from "../store/contract.ts";
import { isStatusBody } from "./log-view.ts";
import { readLog } from "./read-log.ts";

/** The artifacts these events add up to. */
export function foldEntries(entries: Iterable<{ readonly body: string }>): Artifact[] {
  const fold = new ArtifactFold();
  for (const { body } of entries) if (!isStatusBody(body)) fold.add(readEvent(body));
  return fold.artifacts();
}

/** The artifacts that a stored log adds up to at one of its seqs, read page by page. */
export async function foldLog(store: Store, id: TaskId, upTo: number): Promise<Artifact[]> {
  const fold = new ArtifactFold();
  for await (const { body } of readLog(store, id, { after: 0, upTo })) {
    if (!isStatusBody(body)) fold.add(readEvent(body));
  }
  return fold.artifacts();
}
