import { nextTurn } from "../../internal/next-turn.ts";
import type { Artifact } from "../../protocol/artifact.ts";
import { ArtifactFold } from "../../protocol/fold.ts";
import type { TaskId } from "../../protocol/ids.ts";
import type { ArtifactPiece, LargeArtifacts, LargeHistory } from "../../protocol/large-members.ts";
import { readEvent } from "../../protocol/serial.ts";
import type { LogEntry, Store } from "../../store/contract.ts";
import { readChunk } from "./artifact-chunk.ts";
import type { ArtifactSpan } from "./artifact-index.ts";
import { isStatusBody } from "./log-view.ts";
import { PieceMerger } from "./piece-merger.ts";
import { readLog } from "./read-log.ts";

/** Artifacts, or a history, of more bytes than this are read piece by piece. */
export const LARGE_BYTES: number = 1024 * 1024;
/** About how much of a task is in memory at a time while it is read in pieces. */
const PAGE_BYTES = 1024 * 1024;
const PIECE_BYTES = 64 * 1024;
/** Artifacts up to this size that follow each other are read together. */
const GROUP_BYTES = 256 * 1024;

interface StoredLog {
  readonly store: Store;
  readonly id: TaskId;
}

/** The artifacts of a log whose index is known. */
export function largeArtifacts(log: StoredLog, spans: readonly ArtifactSpan[]): LargeArtifacts {
  return { ids: spans.map(({ artifactId }) => artifactId), read: () => readArtifacts(log, spans) };
}

async function* readArtifacts(log: StoredLog, spans: readonly ArtifactSpan[]): AsyncGenerator<ArtifactPiece> {
  for (const group of groupsOf(spans)) {
    const [only] = group;
    if (only !== undefined && only.bytes > GROUP_BYTES) yield* readLargeArtifact(log, only);
    else for (const artifact of await foldGroup(log, group)) yield* wholeArtifact(artifact);
  }
}

/** Runs of artifacts small enough to be folded together; a larger one is alone. */
function* groupsOf(spans: readonly ArtifactSpan[]): Generator<readonly ArtifactSpan[]> {
  let group: ArtifactSpan[] = [];
  let bytes = 0;
  for (const span of spans) {
    if (group.length > 0 && bytes + span.bytes > GROUP_BYTES) {
      yield group;
      group = [];
      bytes = 0;
    }
    group.push(span);
    bytes += span.bytes;
  }
  if (group.length > 0) yield group;
}

function* wholeArtifact({ parts, ...artifact }: Artifact): Generator<ArtifactPiece> {
  yield { kind: "begin", artifact: { ...artifact, parts: [] } };
  if (parts.length > 0) yield { kind: "parts", parts: JSON.stringify(parts).slice(1, -1) };
  yield { kind: "end" };
}

async function foldGroup(log: StoredLog, group: readonly ArtifactSpan[]): Promise<Artifact[]> {
  const firsts = new Map<string, number>(group.map(({ artifactId, first }) => [artifactId, first]));
  const after = Math.min(...group.map(({ first }) => first)) - 1;
  const upTo = Math.max(...group.map(({ last }) => last));
  const fold = new ArtifactFold();
  for await (const { seq, body } of readRange(log, after, upTo)) {
    const id = isStatusBody(body) ? undefined : readChunk(body)?.artifactId;
    if (id !== undefined && seq >= (firsts.get(id) ?? Number.POSITIVE_INFINITY)) fold.add(readEvent(body));
  }
  const made = new Map(fold.artifacts().map((artifact) => [artifact.artifactId, artifact]));
  return group.flatMap(({ artifactId }) => made.get(artifactId) ?? []);
}

async function* readLargeArtifact(log: StoredLog, span: ArtifactSpan): AsyncGenerator<ArtifactPiece> {
  const { artifactId, first, last } = span;
  yield { kind: "begin", artifact: { artifactId, ...(await membersOf(log, span)), parts: [] } };
  const merger = new PieceMerger();
  for await (const { body } of readRange(log, first - 1, last)) {
    const chunk = isStatusBody(body) ? undefined : readChunk(body);
    if (chunk === undefined || chunk.artifactId !== artifactId || chunk.parts === "") continue;
    merger.add(chunk.parts);
    if (merger.length >= PIECE_BYTES) yield* merger.take();
  }
  yield* merger.takeLast();
  yield { kind: "end" };
}

/** Name, description and so on, each from the event that set it last. */
async function membersOf({ store, id }: StoredLog, { members }: ArtifactSpan): Promise<Record<string, unknown>> {
  const found: Record<string, unknown> = {};
  for (const seq of new Set(members.values())) {
    const [entry] = await store.log(id, seq - 1, 1);
    if (entry?.seq !== seq) throw gone();
    const set: Readonly<Record<string, unknown>> = readChunk(entry.body)?.members ?? {};
    for (const [name, last] of members) if (last === seq) found[name] = set[name];
  }
  return found;
}

async function* readRange({ store, id }: StoredLog, after: number, upTo: number): AsyncGenerator<LogEntry> {
  let reached = after;
  for await (const entry of readLog(store, id, { after, upTo })) {
    reached = entry.seq;
    yield entry;
  }
  if (reached < upTo) throw gone();
}

/** The messages from one index up to, not including, another. */
export function largeHistory({ store, id }: StoredLog, range: { from: number; to: number }): LargeHistory {
  return {
    async *read() {
      for (let { from } = range; from < range.to; ) {
        const page = (await store.history(id, from, PAGE_BYTES)).slice(0, range.to - from);
        if (page.length === 0) throw gone();
        from += page.length;
        yield page.map(({ body }) => body);
        await nextTurn();
      }
    },
  };
}

/** Messages that are in memory anyway. */
export function keptHistory(messages: readonly string[]): LargeHistory {
  return {
    async *read() {
      for (const message of messages) {
        yield [message];
        await nextTurn();
      }
    },
  };
}

function gone(): Error {
  return new Error("The task was deleted while it was read.");
}
