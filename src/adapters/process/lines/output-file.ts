import { constants } from "node:fs";
import { type FileHandle, open, realpath, stat } from "node:fs/promises";
import { basename, relative, resolve, sep } from "node:path";
import { processFailure } from "../process-failure.ts";

/** Where programs may name files, and how large they may be. */
export interface FileRules {
  /** Absolute, without symbolic links. */
  readonly cwd: string;
  readonly maxFile: number;
}

export interface OutputFile {
  readonly name: string;
  readonly bytes: Uint8Array;
}

/**
 * Reads a file that a program names. It must lie inside the working directory, also after all symbolic links are followed, and be a regular file. Rejects
 * with a `TaskFailure`.
 */
export async function readOutputFile(path: string, rules: FileRules): Promise<OutputFile> {
  const name = JSON.stringify(path);
  const real = await realpath(resolve(rules.cwd, path)).catch((cause: unknown) => {
    throw refused(`The file ${name} does not exist.`, cause);
  });
  if (!isInside(rules.cwd, real)) throw refused(`The file ${name} is outside the working directory.`);
  // A pipe without a writer must not block, and the last link must not be exchanged meanwhile.
  const flags = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK;
  const file = await open(real, flags).catch((cause: unknown) => {
    throw refused(`The file ${name} cannot be read.`, cause);
  });
  try {
    const opened = await file.stat();
    if (!opened.isFile()) throw refused(`${name} is not a regular file.`);
    // A folder of the path may have been replaced by a link between the check and the opening.
    const again = await realpath(real).catch(() => undefined);
    const now = again === real ? await stat(again) : undefined;
    if (now?.ino !== opened.ino || now.dev !== opened.dev) throw refused(`The file ${name} was replaced meanwhile.`);
    return { name: basename(path), bytes: await readAtMost(file, rules.maxFile, name) };
  } finally {
    await file.close();
  }
}

function isInside(folder: string, path: string): boolean {
  const way = relative(folder, path);
  return way !== "" && way !== ".." && !way.startsWith(`..${sep}`);
}

/** Reads until the end of the file, whatever size the file system states. */
async function readAtMost(file: FileHandle, most: number, name: string): Promise<Uint8Array> {
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of file.createReadStream({
    autoClose: false,
    highWaterMark: 2 ** 16,
  }) as AsyncIterable<Buffer>) {
    size += chunk.length;
    if (size > most)
      throw processFailure("process-file-too-large", `The file ${name} of the program has more than ${most} bytes.`);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}

function refused(message: string, cause?: unknown): Error {
  return processFailure("process-file-refused", message, { cause });
}
