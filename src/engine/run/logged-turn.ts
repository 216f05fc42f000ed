import { parseOwnJson } from "../../internal/own-json.ts";
import type { Artifact } from "../../protocol/artifact.ts";
import { ArtifactFold } from "../../protocol/fold.ts";
import type { ArtifactId } from "../../protocol/ids.ts";
import { readEvent } from "../../protocol/serial.ts";
import type { LogEntry, StepRecord, Store, TaskRecord } from "../../store/contract.ts";
import { isStatusBody } from "../read/log-view.ts";
import { readLog } from "../read/read-log.ts";
import { readRunner } from "../record/runner-record.ts";
import { Replay } from "../replay/replay.ts";
import type { Remembered } from "./memory.ts";

/** What the log says about a turn that is continued. */
export interface LoggedTurn {
  /** All artifacts of the task. True: the last chunk is marked as the last one. */
  readonly knownArtifacts: Map<ArtifactId, boolean>;
  /** The artifacts as they were before the turn. */
  readonly artifacts: readonly Artifact[];
  /** The output of earlier attempts of the turn. */
  readonly replay: Replay;
}

/**
 * Reads the log of a task once, unless `entries` has the whole of it. `steps`: the stored results of the turn; empty if everything must be done
 * again.
 */
export async function readLoggedTurn(
  store: Store,
  { record, entries }: { readonly record: TaskRecord; readonly entries?: readonly LogEntry[] | undefined },
  steps: readonly StepRecord[],
): Promise<LoggedTurn> {
  const { id, seq } = record;
  const { turnAfter } = readRunner(record.head.runner);
  const done = doneSteps(steps);
  const knownArtifacts = new Map<ArtifactId, boolean>();
  const before = new ArtifactFold();
  const replay = new Replay({
    entries: (after, upTo) => readLog(store, id, { after, upTo }),
    turnAfter,
    upTo: seq,
    isRemembered: (step) => done.has(step),
  });
  for await (const entry of entries ?? readLog(store, id, { after: 0, upTo: seq })) {
    const isOfTurn = entry.seq > turnAfter;
    if (isStatusBody(entry.body)) {
      if (isOfTurn) replay.add(entry, readEvent(entry.body));
      continue;
    }
    const event = readEvent(entry.body);
    if (event.kind === "artifact") knownArtifacts.set(event.artifact.artifactId, event.lastChunk);
    if (isOfTurn) replay.add(entry, event);
    else before.add(event);
  }
  return { knownArtifacts, artifacts: before.artifacts(), replay };
}

/** The keys of the steps whose results are stored. */
function doneSteps(steps: readonly StepRecord[]): ReadonlySet<string> {
  return new Set(
    steps.filter(({ value }) => parseOwnJson<Partial<Remembered>>(value).kind === "done").map(({ key }) => key),
  );
}
