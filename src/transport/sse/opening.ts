import type { LargeArtifacts } from "../../protocol/large-members.ts";
import type { StoredTask } from "../../protocol/serial.ts";
import type { TaskStream } from "../../server/task-stream.ts";
import type { Codec, EventPlace, NamedText, StreamOpening } from "../../wire/codec.ts";
import { fillPlaceholders } from "../../wire/large-task.ts";
import type { TextEnvelope } from "../text/text-envelope.ts";

export interface OpeningOptions {
  readonly codec: Codec;
  readonly envelope: TextEnvelope;
  readonly namesEvents: boolean;
  readonly place: EventPlace | undefined;
}

/** The first frames of a stream, in pieces if the task is large. Only the last frame has an id: a reader that lost the connection before it must start again. */
export function openingFrames(
  { opening, events }: TaskStream,
  options: OpeningOptions,
): string | AsyncGenerator<string> {
  const { codec, envelope } = options;
  const start: StreamOpening = events === undefined ? { ...opening, final: true } : opening;
  const encoded = codec.encodeOpening(start);
  const id = opening.kind === "task" ? `id: ${opening.task.seq}\n` : "";
  const large = opening.kind === "task" && opening.task.large !== undefined ? opening.task : undefined;
  if (typeof encoded === "string") {
    const text = `${id}data: ${envelope.result(encoded)}\n\n`;
    return large === undefined ? text : fillPlaceholders(text, large, codec);
  }
  if (large?.large?.artifacts !== undefined)
    return largeFrames(large, large.large.artifacts, { ...options, start, id });
  return framesText(encoded, { ...options, id });
}

function framesText(frames: readonly NamedText[], options: OpeningOptions & { readonly id: string }): string {
  return frames.map((frame, index) => frameText(frame, options, index === frames.length - 1)).join("");
}

function frameText(
  { name, text }: NamedText,
  { namesEvents, envelope, id }: OpeningOptions & { readonly id: string },
  isLast: boolean,
): string {
  return `${isLast ? id : ""}${namesEvents ? `event: ${name}\n` : ""}data: ${envelope.result(text)}\n\n`;
}

interface LargeOpening extends OpeningOptions {
  readonly start: StreamOpening;
  readonly id: string;
}

/**
 * For versions that cannot send a whole task in a stream: the frames of the task without its artifacts, and one frame for each piece of each
 * artifact. If the stream ends with the opening, the status comes last.
 */
async function* largeFrames(task: StoredTask, large: LargeArtifacts, options: LargeOpening): AsyncGenerator<string> {
  const { codec, start } = options;
  const { large: _, ...rest } = task;
  const isFinal = start.final === true;
  const others = codec.encodeOpening({ kind: "task", task: { ...rest, artifacts: "[]" }, final: isFinal });
  const frames = typeof others === "string" ? [{ name: "status", text: others }] : others;
  if (!isFinal) for (const frame of frames) yield frameText(frame, options, false);
  let held: NamedText | undefined;
  for await (const frame of artifactFrames(large, options)) {
    if (held !== undefined) yield frameText(held, options, false);
    held = frame;
  }
  if (held !== undefined) yield frameText(held, options, !isFinal);
  if (isFinal) yield framesText(frames, options);
}

async function* artifactFrames({ read }: LargeArtifacts, { codec, place }: LargeOpening): AsyncGenerator<NamedText> {
  if (place === undefined) return;
  const frame = (artifact: string, append: boolean): NamedText => {
    const event = { body: `{"artifact":${artifact}${append ? ',"append":true' : ""}}` };
    return { name: codec.eventName?.(event) ?? "artifact", text: codec.encodeEvent(event, place) };
  };
  let begins: string | undefined;
  let artifactId = "";
  for await (const piece of read()) {
    if (piece.kind === "begin") {
      artifactId = JSON.stringify(piece.artifact.artifactId);
      const { parts: __, ...members } = piece.artifact;
      begins = JSON.stringify(members).slice(0, -1);
    } else if (piece.kind !== "end") {
      const parts = piece.kind === "text" ? `{"text":"${piece.json}"}` : piece.parts;
      yield begins === undefined
        ? frame(`{"artifactId":${artifactId},"parts":[${parts}]}`, true)
        : frame(`${begins},"parts":[${parts}]}`, false);
      begins = undefined;
    } else if (begins !== undefined) yield frame(`${begins},"parts":[]}`, false);
  }
}
