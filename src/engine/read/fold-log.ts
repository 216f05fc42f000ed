import type { Artifact } from "../../protocol/artifact.ts";
import { ArtifactFold } from "../../protocol/fold.ts";
import type { TaskId } from "../../protocol/ids.ts";
import { type LargeArtifacts, PLACEHOLDER_ARTIFACTS } from "../../protocol/large-members.ts";
import { readEvent } from "../../protocol/serial.ts";
import type { LogEntry, Store } from "../../store/contract.ts";
import { ArtifactIndex } from "./artifact-index.ts";
import { largeArtifacts } from "./large-members.ts";
import { isStatusBody } from "./log-view.ts";
import { readLog } from "./read-log.ts";

/** Folds events into artifacts. */
export function foldEntries(entries: Iterable<{ readonly body: string }>): Artifact[] {
  const fold = new ArtifactFold();
  for (const { body } of entries) if (!isStatusBody(body)) fold.add(readEvent(body));
  return fold.artifacts();
}

/** Folds a stored log, up to and including the event `upTo`, into artifacts. */
export async function foldLog(store: Store, id: TaskId, upTo: number): Promise<Artifact[]> {
  const fold = new ArtifactFold();
  for await (const { body } of readLog(store, id, { after: 0, upTo })) {
    if (!isStatusBody(body)) fold.add(readEvent(body));
  }
  return fold.artifacts();
}

/** The artifacts as a JSON array. If they are large: a placeholder in `text`, and `large` to read them in pieces. */
export interface FoldedArtifacts {
  readonly text: string;
  readonly large?: LargeArtifacts;
}

/** Like {@link foldLog}. If the events have more than `largeBytes` bytes in total, only an index of the artifacts is kept in memory. */
export async function foldUpTo(
  store: Store,
  { id, upTo }: { readonly id: TaskId; readonly upTo: number },
  largeBytes: number | undefined,
): Promise<FoldedArtifacts> {
  if (largeBytes === undefined) return { text: JSON.stringify(await foldLog(store, id, upTo)) };
  let entries: LogEntry[] = [];
  let bytes = 0;
  let index: ArtifactIndex | undefined;
  for await (const entry of readLog(store, id, { after: 0, upTo })) {
    bytes += entry.body.length;
    if (bytes <= largeBytes) {
      entries.push(entry);
      continue;
    }
    index ??= indexOf(entries);
    entries = [];
    index.add(entry);
  }
  if (index === undefined) return { text: JSON.stringify(foldEntries(entries)) };
  return { text: PLACEHOLDER_ARTIFACTS, large: largeArtifacts({ store, id }, index.spans()) };
}

function indexOf(entries: readonly LogEntry[]): ArtifactIndex {
  const index = new ArtifactIndex();
  for (const entry of entries) index.add(entry);
  return index;
}
