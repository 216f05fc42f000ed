import { mkdir, open, rm } from "node:fs/promises";
import { join } from "node:path";
import { HeaderFields } from "../../client/http/header-fields.ts";
import { exchange } from "../../client/http/http.ts";
import type { Send } from "../../client/http/send.ts";
import type { Artifact } from "../../protocol/artifact.ts";
import type { Part } from "../../protocol/part.ts";
import { CliError } from "../cli-error.ts";
import { endingFor } from "../options/media-type.ts";
import { bytesOf, joinedText } from "../output/part-file.ts";

/** A file that was written. */
export interface SavedFile {
  readonly path: string;
  readonly bytes: number;
  readonly mediaType: string | undefined;
  readonly artifactId: string;
}

/** Where to save, and what to do with existing files. */
export interface SaveOptions {
  readonly folder: string;
  /** False: an existing file is an error. */
  readonly overwrite: boolean;
  /** Downloads parts that are only URLs. Absent: they are skipped. */
  readonly send?: Send;
  readonly signal: AbortSignal;
}

/** Writes artifacts into a folder, never outside of it, whatever their file names are. */
export async function saveArtifacts(
  artifacts: readonly Artifact[],
  options: SaveOptions,
): Promise<{ readonly saved: readonly SavedFile[]; readonly left: readonly string[] }> {
  await mkdir(options.folder, { recursive: true });
  const saved: SavedFile[] = [];
  const left: string[] = [];
  const taken = new Set<string>();
  for (const artifact of artifacts) {
    for (const part of joinedText(artifact.parts)) {
      if (part.url !== undefined && options.send === undefined) {
        left.push(part.url);
        continue;
      }
      const name = freeName(fileName(part, artifact), taken);
      const path = join(options.folder, name);
      const bytes = await write(path, await contentOf(part, options), options);
      saved.push({ path, bytes, mediaType: part.mediaType, artifactId: artifact.artifactId });
    }
  }
  return { saved, left };
}

// Path separators, characters that file systems reject, and control characters.
const UNSAFE = /[\p{Cc}<>:"/\\|?*]+/gu;
/** Names of devices on Windows. */
const RESERVED = /^(?:con|prn|aux|nul|com\d|lpt\d)(?=\.|$)/i;
const LONGEST_NAME = 150;

/** The file name of a part: its own, if any, without a path. */
function fileName(part: Part, { name, artifactId }: Artifact): string {
  const own = safeName(part.filename?.split(/[\\/]/).at(-1) ?? "");
  if (own !== "") return own;
  const base = safeName(name ?? "") || safeName(artifactId) || "artifact";
  if (part.text !== undefined) return `${base}${part.mediaType === undefined ? ".txt" : endingFor(part.mediaType)}`;
  if (part.data !== undefined) return `${base}.json`;
  return `${base}${endingFor(part.mediaType)}`;
}

/**
 * `../a:b.txt` becomes `_a_b.txt`: without path separators, leading dots and dashes, and reserved names; at most 150 characters. May be
 * empty.
 */
function safeName(name: string): string {
  return name
    .replaceAll(UNSAFE, "_")
    .replace(/^[.\s-]+/, "")
    .replace(/[.\s]+$/, "")
    .replace(RESERVED, "_$&")
    .slice(0, LONGEST_NAME);
}

/** `a.txt`, then `a-2.txt`, `a-3.txt`. Only for files of this run. */
function freeName(name: string, taken: Set<string>): string {
  const [, base = name, ending = ""] = /^(.+?)(\.[^.]*)?$/s.exec(name) ?? [];
  let free = name;
  // Some file systems ignore case.
  for (let number = 2; taken.has(free.toLowerCase()); number++) free = `${base}-${number}${ending}`;
  taken.add(free.toLowerCase());
  return free;
}

async function contentOf(part: Part, { send, signal }: SaveOptions): Promise<AsyncIterable<Uint8Array> | Uint8Array> {
  const bytes = bytesOf(part);
  if (bytes !== undefined) return bytes;
  const url = part.url ?? "";
  if (send === undefined || !/^https?:\/\//i.test(url) || !URL.canParse(url)) {
    throw new CliError("A2ACLI_ERR_INTERNAL", `${url} is not a URL that a file can be fetched from.`);
  }
  // No credentials: the agent chooses the URL.
  const request = { method: "GET", url: new URL(url), headers: new HeaderFields(), isPublic: true, signal } as const;
  const response = await exchange({ send, guard: undefined }, request);
  if (!response.ok) throw new CliError("A2ACLI_ERR_INTERNAL", `${url} answered with ${response.status}.`);
  return response.body ?? new Uint8Array();
}

/** Returns the number of bytes. An incomplete file is removed. */
async function write(
  path: string,
  content: AsyncIterable<Uint8Array> | Uint8Array,
  { overwrite }: SaveOptions,
): Promise<number> {
  // The flag `wx` does not follow an existing link either.
  const file = await open(path, overwrite ? "w" : "wx").catch((error: unknown) => {
    const exists = error instanceof Error && "code" in error && error.code === "EEXIST";
    throw new CliError("A2ACLI_ERR_INTERNAL", exists ? `${path} exists already.` : `${path} cannot be written.`, {
      ...(exists && { hint: "--overwrite replaces it, --dir saves elsewhere." }),
      cause: error,
    });
  });
  let bytes = 0;
  try {
    for await (const chunk of content instanceof Uint8Array ? [content] : content) {
      await file.writeFile(chunk);
      bytes += chunk.byteLength;
    }
    await file.close();
  } catch (error) {
    await file.close().catch(() => {});
    // Remove the incomplete file.
    await rm(path, { force: true });
    throw new CliError("A2ACLI_ERR_INTERNAL", `${path} could not be written completely.`, { cause: error });
  }
  return bytes;
}
