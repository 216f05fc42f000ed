import type { LogEvent, State, WirePart } from "../data/operator-types.ts";
import type { CutArtifact, KnownTime, LogOutline, LogRow, WrittenPiece } from "../data/task-types.ts";

/** Rows that are kept; a longer log is read by seq. */
const MAX_ROWS = 1000;
/** Pieces and times that are kept while a task is followed. */
const MAX_ITEMS = 1024;
/** Characters that are kept of an artifact. */
const MAX_CHARACTERS = 200_000;

const END_STATES: readonly State[] = ["completed", "failed", "canceled", "rejected"];

/** Whether a task in this state does nothing more. */
export function isEndState(state: State): boolean {
  return END_STATES.includes(state);
}

/** `TASK_STATE_INPUT_REQUIRED` becomes `input-required`. */
export function stateOf(name: string | undefined): State {
  // Safe cast: the states of 1.0 are those of the console in capitals.
  return (name ?? "")
    .replace(/^TASK_STATE_/, "")
    .toLowerCase()
    .replaceAll("_", "-") as State;
}

/** The text of parts, and the length of all their content. */
function contentOf(parts: readonly WirePart[]): { readonly text: string; readonly characters: number } {
  const text = parts.map((part) => part.text ?? "").join("");
  const others = parts.map(
    (part) => part.raw?.length ?? (part.data === undefined ? 0 : JSON.stringify(part.data).length),
  );
  return { text, characters: text.length + others.reduce((sum, each) => sum + each, 0) };
}

/** The log with further events. Events that it has already are skipped. */
export function addEvents(log: LogOutline, all: readonly LogEvent[], ended: boolean): LogOutline {
  const events = all.filter(({ seq }) => seq > log.lastSeq);
  const rows = log.rows === undefined ? undefined : addRows(log.rows, events);
  const hasRows = rows !== undefined && rows.length <= MAX_ROWS;
  const { rows: _rows, ...rest } = log;
  return {
    ...rest,
    lastSeq: events.at(-1)?.seq ?? log.lastSeq,
    ended,
    rowCount: rows?.length ?? log.rowCount + events.length,
    ...(hasRows && { rows }),
    written: halved(addWritten(log.written, events), joinPieces),
    times: halved(addTimes(log.times, events), (_, later) => later),
    artifacts: addChunks(log.artifacts, events),
  };
}

/** Adds events to rows. Chunks of the artifact of the last row are merged into it. */
export function addRows(rows: readonly LogRow[], events: readonly LogEvent[]): readonly LogRow[] {
  if (events.length === 0) return rows;
  const all = [...rows];
  for (const { seq, event } of events) {
    const last = all.at(-1);
    if (event.artifact !== undefined) {
      const { artifactId, name, parts = [] } = event.artifact;
      const { characters } = contentOf(parts);
      if (last?.artifactId === artifactId && event.append === true)
        all[all.length - 1] = {
          ...last,
          last: seq,
          chunks: (last.chunks ?? 0) + 1,
          characters: (last.characters ?? 0) + characters,
        };
      else {
        const text = name ?? artifactId;
        all.push({ kind: "artifact", first: seq, last: seq, text, artifactId, chunks: 1, characters });
      }
    } else if (event.status !== undefined) {
      const { state, message } = event.status;
      const { text } = contentOf(message?.parts ?? []);
      const at = timeIn(event);
      all.push({
        ...{ kind: "status", first: seq, last: seq, state: stateOf(state), text },
        ...(at !== undefined && { at }),
      });
    }
  }
  return all;
}

function timeIn({ status }: LogEvent["event"]): number | undefined {
  const at = Date.parse(status?.timestamp ?? "");
  return Number.isNaN(at) ? undefined : at;
}

function addWritten(pieces: readonly WrittenPiece[], events: readonly LogEvent[]): readonly WrittenPiece[] {
  const added = events.flatMap(({ seq, event }) =>
    event.artifact === undefined
      ? []
      : [{ first: seq, last: seq, characters: contentOf(event.artifact.parts ?? []).characters }],
  );
  return added.length === 0 ? pieces : [...pieces, ...added];
}

function addTimes(times: readonly KnownTime[], events: readonly LogEvent[]): readonly KnownTime[] {
  const added = events.flatMap(({ seq, event }) => {
    const at = timeIn(event);
    return at === undefined ? [] : [{ seq, at }];
  });
  return added.length === 0 ? times : [...times, ...added];
}

/** Two neighbours become one if there are too many. */
function halved<T>(items: readonly T[], join: (first: T, second: T) => T): readonly T[] {
  if (items.length <= MAX_ITEMS) return items;
  return items.flatMap((item, index) => {
    if (index % 2 === 1) return [];
    const next = items[index + 1];
    return [next === undefined ? item : join(item, next)];
  });
}

function joinPieces(one: WrittenPiece, other: WrittenPiece): WrittenPiece {
  return { first: one.first, last: other.last, characters: one.characters + other.characters };
}

/** The artifacts after further events. Of a long artifact the beginning is kept. */
export function addChunks(artifacts: readonly CutArtifact[], events: readonly LogEvent[]): readonly CutArtifact[] {
  if (!events.some(({ event }) => event.artifact !== undefined)) return artifacts;
  const all = new Map(artifacts.map((artifact) => [artifact.artifactId, artifact]));
  for (const { event } of events) {
    if (event.artifact === undefined) continue;
    const { artifactId, parts = [] } = event.artifact;
    const known = event.append === true ? all.get(artifactId) : undefined;
    const start: CutArtifact = known ?? { ...event.artifact, parts: [] };
    all.set(artifactId, parts.reduce(withPart, start));
  }
  return [...all.values()];
}

/** Text parts in a row, without a name or another type, are one text. */
function withPart(artifact: CutArtifact, part: WirePart): CutArtifact {
  const { parts = [], omitted = 0 } = artifact;
  const held = parts.reduce((sum, { text, raw }) => sum + (text ?? raw ?? "").length, 0);
  const size = (part.text ?? part.raw ?? "").length;
  if (held + size > MAX_CHARACTERS && held > 0) return { ...artifact, omitted: omitted + size };
  const last = parts.at(-1);
  const isSame =
    last?.text !== undefined &&
    part.text !== undefined &&
    last.filename === undefined &&
    part.filename === undefined &&
    last.mediaType === part.mediaType;
  if (!isSame) return { ...artifact, parts: [...parts, part] };
  return { ...artifact, parts: [...parts.slice(0, -1), { ...last, text: `${last.text}${part.text}` }] };
}
