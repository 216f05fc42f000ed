import { readFile, stat } from "node:fs/promises";
import { basename, resolve } from "node:path";
import { type Command, Option } from "commander";
import type { JsonValue } from "../../protocol/json.ts";
import type { Part } from "../../protocol/part.ts";
import { usageError } from "../cli-error.ts";
import type { CliContext } from "../context.ts";
import { guessMediaType } from "../options/media-type.ts";

/** One part as typed. */
export interface TypedPart {
  readonly kind: "text" | "file" | "data";
  readonly value: string;
  /** Set by the `--media-type` that follows the part. */
  mediaType?: string;
}

/** Adds the options for the parts of a message. The list keeps the typed order. */
export function addPartOptions(command: Command): readonly TypedPart[] {
  const parts: TypedPart[] = [];
  const part = (kind: TypedPart["kind"]) => (value: string) => {
    parts.push({ kind, value });
    return value;
  };
  command
    .addOption(new Option("--text <text>", "a text part; may be repeated").argParser(part("text")))
    .addOption(
      new Option("--file <path|url>", "file to send; of a URL only the URL is sent; may be repeated").argParser(
        part("file"),
      ),
    )
    .addOption(
      new Option(
        "--data <json|path|->",
        "JSON to send: typed, from a file, or from standard input; may be repeated",
      ).argParser(part("data")),
    )
    .addOption(
      new Option("--media-type <type>", "media type of the preceding part (default: guessed from its name)").argParser(
        (value) => {
          const last = parts.at(-1);
          if (last === undefined) throw usageError("--media-type must follow the part that it describes.", EXAMPLE);
          if (last.mediaType !== undefined) throw usageError("A part can have only one media type.", EXAMPLE);
          last.mediaType = value;
          return value;
        },
      ),
    );
  return parts;
}

const EXAMPLE = "For example: --file report.bin --media-type application/pdf";

/** The parts of a message: the text argument, then the options in their order. */
export async function readParts(
  text: string | undefined,
  typed: readonly TypedPart[],
  context: Pick<CliContext, "cwd" | "stdin">,
): Promise<readonly Part[]> {
  const parts: Part[] = text === undefined ? [] : [{ text: text === "-" ? await readInput(context.stdin) : text }];
  const readers = typed.filter(({ kind, value }) => kind === "data" && value === "-").length + (text === "-" ? 1 : 0);
  if (readers > 1) throw usageError("Only one part can be read from standard input.");
  for (const part of typed) parts.push(await readPart(part, context));
  if (parts.length === 0) {
    throw usageError("The message is empty.", 'For example: palaver send "Hello" -a http://127.0.0.1:3000');
  }
  return parts;
}

/** A file is sent inline; a URL is sent as it is, and the agent fetches it. */
async function readPart(
  { kind, value, mediaType }: TypedPart,
  { cwd, stdin }: Pick<CliContext, "cwd" | "stdin">,
): Promise<Part> {
  const typed = mediaType === undefined ? {} : { mediaType };
  if (kind === "text") return { text: value, ...typed };
  if (kind === "data") {
    return { data: await readData(value, { cwd, stdin }), ...typed };
  }
  if (/^https?:\/\//i.test(value)) {
    const filename = basename(new URL(value).pathname);
    const guessed = mediaType ?? guessMediaType(filename);
    return { url: value, ...(filename !== "" && { filename }), ...(guessed !== undefined && { mediaType: guessed }) };
  }
  const bytes = await readLocal(resolve(cwd, value));
  const filename = basename(value);
  return {
    raw: bytes.toString("base64"),
    filename,
    mediaType: mediaType ?? guessMediaType(filename) ?? "application/octet-stream",
  };
}

/** Typed JSON, or the JSON in a file. A value that starts like an object or an array is never a file name. */
async function readData(value: string, { cwd, stdin }: Pick<CliContext, "cwd" | "stdin">): Promise<JsonValue> {
  if (value === "-") return parsed(await readInput(stdin), value);
  if (/^\s*[[{]/.test(value)) return parsed(value, value);
  return parsed((await readLocal(resolve(cwd, value))).toString("utf8"), value);
}

/** The largest file in bytes. It is held in memory up to three times. */
const MAX_FILE_BYTES = 100 * 2 ** 20;

async function readLocal(path: string): Promise<Buffer> {
  try {
    const { size } = await stat(path);
    if (size > MAX_FILE_BYTES) {
      throw usageError(`${path} is too large to send.`, "Upload it somewhere and pass its URL to --file.");
    }
    return await readFile(path);
  } catch (error) {
    if (!(error instanceof Error) || !("code" in error) || error.code === "A2ACLI_ERR_USAGE") throw error;
    throw usageError(`${path} cannot be read: ${error.code === "ENOENT" ? "the file does not exist" : error.message}`);
  }
}

function parsed(json: string, source: string): JsonValue {
  try {
    // Safe: `JSON.parse` returns a JSON value.
    return JSON.parse(json) as JsonValue;
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    throw usageError(`--data ${source} is not valid JSON: ${reason}`);
  }
}

/** Until the end of standard input, at most as much as a file. */
async function readInput(stdin: AsyncIterable<Uint8Array | string>): Promise<string> {
  const decoder = new TextDecoder();
  let text = "";
  let size = 0;
  for await (const chunk of stdin) {
    size += chunk.length;
    if (size > MAX_FILE_BYTES) throw usageError("Standard input is too large to send.");
    text += typeof chunk === "string" ? chunk : decoder.decode(chunk, { stream: true });
  }
  return text + decoder.decode();
}
