import { randomBytes } from "node:crypto";
import { chmodSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { resolve } from "node:path";
import { messageOf, StartupError, systemCode } from "../startup-error.ts";

/** What programs of this machine need to use the operator API. The file is only for its owner. */
export interface OperatorFile {
  /** Proves that the program may read the file. It stays the same after a restart. */
  readonly token: string;
  /** The URL of the server when it last listened. Absent: it did not listen yet. */
  readonly url?: string;
  /** The process id of that server. */
  readonly pid?: number;
}

/** The path of the file beside a store; `undefined` if the store is not a file. */
export function operatorFileOf(store: unknown, cwd: string = process.cwd()): string | undefined {
  const file = typeof store === "string" ? /^sqlite:(?<file>.+)$/.exec(store)?.groups?.["file"] : undefined;
  return file === undefined ? undefined : `${resolve(cwd, file)}.operator.json`;
}

/** The content of the file; `undefined` if it does not exist. Throws a {@link StartupError} for a damaged file. */
export function readOperatorFile(path: string): OperatorFile | undefined {
  let text: string;
  try {
    text = readFileSync(path, "utf8");
  } catch (error) {
    if (systemCode(error) === "ENOENT") return undefined;
    throw new StartupError("failed", `The operator file ${path} cannot be read: ${messageOf(error)}`, { cause: error });
  }
  const { token, url, pid } = parse(text);
  if (typeof token !== "string" || token.length < MIN_TOKEN) {
    throw new StartupError(
      "failed",
      `The operator file ${path} is damaged.\nDelete it: the server creates a new one when it starts.`,
    );
  }
  return { token, ...(typeof url === "string" && { url }), ...(typeof pid === "number" && { pid }) };
}

/** The token in the file, which is created if it does not exist. */
export function operatorToken(path: string): string {
  const known = readOperatorFile(path);
  if (known !== undefined) {
    chmodSync(path, 0o600);
    return known.token;
  }
  const token = `plo_${randomBytes(32).toString("base64url")}`;
  writeOperatorFile(path, { token });
  return token;
}

/** Replaces the file. A crash leaves the old or the new one. */
export function writeOperatorFile(path: string, content: OperatorFile): void {
  try {
    writeFileSync(`${path}.new`, `${JSON.stringify(content)}\n`, { mode: 0o600 });
    renameSync(`${path}.new`, path);
  } catch (error) {
    throw new StartupError("failed", `The operator file ${path} cannot be written: ${messageOf(error)}`, {
      cause: error,
    });
  }
}

/** Shorter tokens could be guessed. */
export const MIN_TOKEN = 16;

function parse(text: string): { readonly token?: unknown; readonly url?: unknown; readonly pid?: unknown } {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === "object" && value !== null ? value : {};
  } catch {
    return {};
  }
}
