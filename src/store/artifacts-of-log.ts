import { ArtifactFold } from "../protocol/fold.ts";
import { readEvent } from "../protocol/serial.ts";
import type { LogEntry } from "./contract.ts";

/**
 * All artifacts of a task as a JSON array, computed from its whole log. A store calls this before it deletes the events of a task that ended without
 * `TaskEnd.artifacts`.
 */
export function artifactsOfLog(log: Iterable<LogEntry>): string {
  const fold = new ArtifactFold();
  for (const entry of log) fold.add(readEvent(entry.body));
  return JSON.stringify(fold.artifacts());
}
