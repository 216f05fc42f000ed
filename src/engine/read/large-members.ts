import { nextTurn } from "../../internal/next-turn.ts";
import type { Artifact } from "../../protocol/artifact.ts";
import { ArtifactFold } from "../../protocol/fold.ts";
import type { TaskId } from "../../protocol/ids.ts";
import type { ArtifactPiece, LargeArtifacts, LargeHistory } from "../../protocol/large-members.ts";
import { readEvent } from "../../protocol/serial.ts";
import type { LogEntry, Store } from "../../store/contract.ts";
import { withoutDetails } from "../record/inbox-message.ts";
import { readChunk } from "./artifact-chunk.ts";
import type { ArtifactSpan } from "./artifact-index.ts";
import { isStatusBody } from "./log-view.ts";
import { PieceMerger } from "./piece-merger.ts";
import { readLog } from "./read-log.ts";

/** Artifacts, or a history, of more bytes than this are read in pieces. */
export const LARGE_BYTES: number = 1024 * 1024;
/** How much of a task is read at a time. */
const PAGE_BYTES = 1024 * 1024;
/** Size of the pieces of an artifact. */
const PIECE_BYTES = 64 * 1024;
/** Successive artifacts up to this size in total are read together. */
const GROUP_BYTES = 256 * 1024;

interface StoredLog {
  readonly store: Store;
  readonly id: TaskId;
}

/** Reads the artifacts of a log in pieces. `spans`: the index of the log. */
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

/** Groups of successive artifacts that are small enough to be folded together. A large artifact is a group of its own. */
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
  const folded = new Map(fold.artifacts().map((artifact) => [artifact.artifactId, artifact]));
  return group.flatMap(({ artifactId }) => folded.get(artifactId) ?? []);
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

/** Reads name, description and so on, each from the event that set it last. */
async function membersOf({ store, id }: StoredLog, { members }: ArtifactSpan): Promise<Record<string, unknown>> {
  const found: Record<string, unknown> = {};
  for (const seq of new Set(members.values())) {
    const [entry] = await store.log(id, seq - 1, 1);
    if (entry?.seq !== seq) throw deleted();
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
  if (reached < upTo) throw deleted();
}

/** Reads the messages from index `from` up to, not including, index `to`, in pages. */
export function largeHistory({ store, id }: StoredLog, range: { from: number; to: number }): LargeHistory {
  return {
    async *read() {
      for (let { from } = range; from < range.to; ) {
        const page = (await store.history(id, from, PAGE_BYTES)).slice(0, range.to - from);
        if (page.length === 0) throw deleted();
        from += page.length;
        yield page.map(({ body }) => withoutDetails(body));
        await nextTurn();
      }
    },
  };
}

/** Messages that are in memory already, in the same form. */
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

function deleted(): Error {
  return new Error("The task was deleted while it was being read.");
}
