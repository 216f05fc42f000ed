import { existsSync, mkdirSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";
import { decoded, writeRecorded } from "./recorded-json.ts";

/** One call of a model and what it answered. */
export interface RecordedCall {
  readonly method: "doStream" | "doGenerate";
  /** The parameters of the call, as text: equal calls have equal texts. */
  readonly call: string;
  /** The parts of the stream, or the result. */
  readonly reply: unknown;
}

/** The content of a file with recorded calls. */
export interface Recording {
  readonly provider: string;
  readonly modelId: string;
  readonly calls: readonly RecordedCall[];
}

/** The recording in a file; `undefined` if the file does not exist. Throws an `Error` if it is not a recording. */
export function readRecording(file: string): Recording | undefined {
  if (!existsSync(file)) return undefined;
  try {
    const content: unknown = JSON.parse(readFileSync(file, "utf8"));
    if (isRecording(content)) return content;
  } catch (cause) {
    throw new Error(`${file} is not valid JSON. Delete it and record again.`, { cause });
  }
  throw new Error(`${file} is not a recording of model calls. Delete it and record again.`);
}

/** Writes the whole file; a reader never sees half of it. The calls are shown as JSON, not as texts, so that a review can read them. */
export function writeRecording(file: string, { provider, modelId, calls }: Recording): void {
  const content = {
    provider,
    modelId,
    calls: calls.map(({ method, call, reply }) => ({ method, call: JSON.parse(call) as unknown, reply })),
  };
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(`${file}.new`, `${writeRecorded(content, 2)}\n`);
  renameSync(`${file}.new`, file);
}

/** The recorded calls of a file, by their key. */
export function callsOf({ calls }: Recording): ReadonlyMap<string, RecordedCall> {
  return new Map(
    calls.map(({ method, call, reply }) => {
      const text = typeof call === "string" ? call : writeRecorded(call);
      return [callKey(method, text), { method, call: text, reply: decoded(reply) }];
    }),
  );
}

export function callKey(method: RecordedCall["method"], call: string): string {
  return `${method} ${call}`;
}

function isRecording(content: unknown): content is Recording {
  if (typeof content !== "object" || content === null) return false;
  const { provider, modelId, calls } = content as Partial<Recording>;
  return typeof provider === "string" && typeof modelId === "string" && Array.isArray(calls);
}
