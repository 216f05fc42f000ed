import type { LogEvent, State, WireArtifact, WirePart } from "../data/operator-types.ts";

/** The state of a task and its artifacts as of one event. */
export interface TaskMoment {
  readonly state: State;
  readonly artifacts: readonly WireArtifact[];
}

/** One line of the list of events: a status, or the chunks of one artifact in a row. */
export interface LogRow {
  readonly first: number;
  readonly last: number;
  readonly kind: "status" | "artifact";
  /** Of a status. */
  readonly state?: State;
  readonly text: string;
  /** Milliseconds since 1970; events of artifacts have none. */
  readonly at?: number;
  readonly artifactId?: string;
  readonly chunks: number;
  readonly characters: number;
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

/** Adds events to rows. Chunks of the artifact of the last row are merged into it. */
export function addRows(rows: readonly LogRow[], events: readonly LogEvent[]): readonly LogRow[] {
  const all = [...rows];
  for (const { seq, event } of events) {
    const last = all.at(-1);
    if (event.artifact !== undefined) {
      const { artifactId, name, parts = [] } = event.artifact;
      const { characters } = contentOf(parts);
      if (last?.artifactId === artifactId && event.append === true)
        all[all.length - 1] = { ...last, last: seq, chunks: last.chunks + 1, characters: last.characters + characters };
      else
        all.push({
          first: seq,
          last: seq,
          kind: "artifact",
          text: name ?? artifactId,
          artifactId,
          chunks: 1,
          characters,
        });
    } else if (event.status !== undefined) {
      const { state, message, timestamp } = event.status;
      const at = timestamp === undefined ? Number.NaN : Date.parse(timestamp);
      all.push({
        first: seq,
        last: seq,
        kind: "status",
        state: stateOf(state),
        text: contentOf(message?.parts ?? []).text,
        chunks: 1,
        characters: 0,
        ...(!Number.isNaN(at) && { at }),
      });
    }
  }
  return all;
}

/** The task after the event with this seq: the state and the artifacts of then. */
export function momentAt(events: readonly LogEvent[], seq: number): TaskMoment {
  let state: State = "submitted";
  const artifacts = new Map<string, { artifact: WireArtifact; parts: WirePart[] }>();
  for (const { seq: at, event } of events) {
    if (at > seq) break;
    if (event.status !== undefined) state = stateOf(event.status.state);
    if (event.artifact === undefined) continue;
    const { artifactId, parts = [] } = event.artifact;
    const known = event.append === true ? artifacts.get(artifactId) : undefined;
    if (known === undefined) artifacts.set(artifactId, { artifact: event.artifact, parts: [...parts] });
    else known.parts.push(...parts);
  }
  return {
    state,
    artifacts: Array.from(artifacts.values(), ({ artifact, parts }) => ({ ...artifact, parts: joined(parts) })),
  };
}

/** Text parts in a row, without a name or another type, are one text. */
function joined(parts: readonly WirePart[]): readonly WirePart[] {
  const all: WirePart[] = [];
  let texts: string[] = [];
  let model: WirePart | undefined;
  const flush = (): void => {
    if (model !== undefined) all.push({ ...model, text: texts.join("") });
    texts = [];
    model = undefined;
  };
  for (const part of parts) {
    const isText = part.text !== undefined && part.filename === undefined;
    if (!isText || (model !== undefined && model.mediaType !== part.mediaType)) flush();
    if (isText) {
      model ??= part;
      texts.push(part.text ?? "");
    } else all.push(part);
  }
  flush();
  return all;
}
