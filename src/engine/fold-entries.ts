import type { Artifact } from "../protocol/artifact.ts";
import { ArtifactFold } from "../protocol/fold.ts";
import { readEvent } from "../protocol/serial.ts";
import { isStatusBody } from "./log-view.ts";

/** The artifacts these events add up to. */
export function foldEntries(entries: Iterable<{ readonly body: string }>): Artifact[] {
  const fold = new ArtifactFold();
  for (const entry of entries) if (!isStatusBody(entry.body)) fold.add(readEvent(entry.body));
  return fold.artifacts();
}
