import { constants } from "node:fs";
import { open, realpath } from "node:fs/promises";
import { basename, dirname, isAbsolute, join, relative, sep } from "node:path";
import { type FileRules, readOutputFile } from "../process/lines/output-file.ts";

/** Reads a text file inside the working directory, or some of its lines. Rejects with an `Error` that says what is wrong. */
export async function readSessionFile(
  path: string,
  rules: FileRules,
  { line, limit }: { readonly line?: number | null | undefined; readonly limit?: number | null | undefined },
): Promise<string> {
  const { bytes } = await readOutputFile(path, rules);
  const text = new TextDecoder().decode(bytes);
  if (line == null && limit == null) return text;
  const from = Math.max((line ?? 1) - 1, 0);
  return text
    .split("\n")
    .slice(from, limit == null ? undefined : from + limit)
    .join("\n");
}

/** Writes a text file inside the working directory; its folder must exist. A link is not followed. */
export async function writeSessionFile(path: string, content: string, { cwd, maxFile }: FileRules): Promise<void> {
  if (Buffer.byteLength(content) > maxFile) throw new Error(`The file has more than ${maxFile} bytes.`);
  const given = isAbsolute(path) ? path : join(cwd, path);
  const folder = await realpath(dirname(given)).catch(() => {
    throw new Error(`The folder of ${JSON.stringify(path)} does not exist.`);
  });
  const way = relative(cwd, folder);
  if (way === ".." || way.startsWith(`..${sep}`) || isAbsolute(way))
    throw new Error(`${JSON.stringify(path)} is outside the working directory.`);
  const flags = constants.O_WRONLY | constants.O_CREAT | constants.O_NOFOLLOW | constants.O_NONBLOCK;
  const file = await open(join(folder, basename(given)), flags, 0o644);
  try {
    if (!(await file.stat()).isFile()) throw new Error(`${JSON.stringify(path)} is not a regular file.`);
    // The folder may have been replaced by a link between the check and the opening.
    if ((await realpath(folder)) !== folder) throw new Error(`The folder of ${JSON.stringify(path)} was replaced.`);
    await file.truncate(0);
    await file.writeFile(content);
  } finally {
    await file.close();
  }
}
