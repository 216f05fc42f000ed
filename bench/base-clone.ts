import { execFileSync } from "node:child_process";
import { mkdtempSync, rmSync, symlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { OWN_CLONE } from "./server-process.ts";

/** Another state of this project, ready to run. */
export interface BaseClone {
  /** What tables call it: the abbreviated commit. */
  readonly name: string;
  readonly folder: string;
}

/** What makes the servers that are compared; other changes are no reason to compare with the last commit. */
const MEASURED = ["src", "bench/servers", "package.json"];

/**
 * Unpacks a commit into a folder that is gone when this process ends; dependencies are those installed here. Without a name
 * it is the last commit or, where nothing has changed since, the one before. Git's own records are left as they are.
 * Throws where there is no such commit.
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
    throw new Error(`There is no commit ${ref} to compare with.`, { cause });
  }
}

function git(...args: readonly string[]): Buffer {
  return execFileSync("git", ["-C", OWN_CLONE, ...args], { maxBuffer: 2 ** 30, stdio: ["ignore", "pipe", "ignore"] });
}
