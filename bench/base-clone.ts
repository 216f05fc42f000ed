import { execFileSync } from "node:child_process";
import { mkdtempSync, rmSync, symlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { OWN_CLONE } from "./server-process.ts";

/** Another commit of this project, ready to run. */
export interface BaseClone {
  /** The name in tables: the abbreviated commit. */
  readonly name: string;
  readonly folder: string;
}

/** Paths that affect the compared servers; changes elsewhere are no reason to compare with the last commit. */
const MEASURED = ["src", "bench/servers", "package.json"];

/**
 * Unpacks a commit into a temporary folder that uses the dependencies installed here. Default: the last commit or,
 * without changes since, the one before. Changes nothing in the Git repository. Throws if the commit does not exist.
 */
export function cloneBase(ref: string | undefined): BaseClone {
  const wanted = ref ?? (git("status", "--porcelain", "--", ...MEASURED).length > 0 ? "HEAD" : "HEAD~1");
  const commit = commitOf(wanted);
  const folder = mkdtempSync(join(tmpdir(), "palaver-base-"));
  process.on("exit", () => rmSync(folder, { recursive: true, force: true }));
  execFileSync("tar", ["-x", "-C", folder], { input: git("archive", "--format=tar", commit) });
  symlinkSync(join(OWN_CLONE, "node_modules"), join(folder, "node_modules"), "junction");
  return { name: commit.slice(0, 7), folder };
}

function commitOf(ref: string): string {
  try {
    return git("rev-parse", "--verify", "--quiet", "--end-of-options", `${ref}^{commit}`).toString().trim();
  } catch (cause) {
    throw new Error(`The commit ${ref} does not exist; pass another with --base.`, { cause });
  }
}

function git(...args: readonly string[]): Buffer {
  return execFileSync("git", ["-C", OWN_CLONE, ...args], { maxBuffer: 2 ** 30, stdio: ["ignore", "pipe", "ignore"] });
}
