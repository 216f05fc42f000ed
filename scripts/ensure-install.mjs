// Runs before the npm scripts, on any Node from 20 on: installs the dependencies if they are missing, incomplete or
// different from the lock file, and otherwise prints nothing. Prints to stderr only: stdout belongs to the script.
import { spawnSync } from "node:child_process";
import { closeSync, existsSync, openSync, readFileSync, rmSync, statSync, writeSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { restore } from "./published-manifest.mjs";

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const lock = join(root, ".install.lock");

if (restore(root) === "edited-since") {
  console.error(
    "palaver: an interrupted `npm pack` left package.json rewritten, and it was edited since; compare it with git.",
  );
}
if (!isInstalled()) install();

/**
 * npm writes its record of node_modules last, so an interrupted install has none. The record is compared by content:
 * file times mean little after a checkout.
 */
function isInstalled() {
  try {
    const wanted = JSON.parse(readFileSync(join(root, "package-lock.json"), "utf8")).packages;
    const present = JSON.parse(readFileSync(join(root, "node_modules", ".package-lock.json"), "utf8")).packages;
    for (const [path, entry] of Object.entries(wanted)) {
      if (path === "") continue;
      const found = present[path];
      // Packages for other platforms are in the lock file but not on the disk.
      if (found === undefined ? !entry.optional : found.version !== entry.version) return false;
    }
    return existsSync(join(root, "node_modules", "node", "bin", process.platform === "win32" ? "node.exe" : "node"));
  } catch {
    return false;
  }
}

function install() {
  takeLock();
  try {
    if (isInstalled()) return; // Another process installed while this one waited.
    console.error("palaver: installing dependencies, once (npm ci) …");
    const flags = ["ci", "--no-audit", "--no-fund", "--loglevel=error"];
    // The Node that runs npm, not the one in node_modules, which the install replaces.
    const { npm_execpath: npm, npm_node_execpath: node } = process.env;
    const [command, ...first] = npm !== undefined && node !== undefined ? [node, npm] : ["npm"];
    const { status, error } = spawnSync(command, [...first, ...flags], {
      cwd: root,
      stdio: ["ignore", "ignore", 2],
      shell: process.platform === "win32" && command === "npm",
      env: { ...process.env, npm_config_loglevel: "error" },
    });
    if (status !== 0) {
      console.error(
        `palaver: npm ci failed${error === undefined ? "" : ` (${error.message})`}. Fix the error above and try again.`,
      );
      process.exitCode = 1;
    }
  } finally {
    rmSync(lock, { force: true });
  }
}

/**
 * Two concurrent installs into one folder break each other: the second waits for the first, unless the first process
 * has died.
 */
function takeLock() {
  let waited = false;
  for (;;) {
    try {
      const file = openSync(lock, "wx");
      writeSync(file, String(process.pid));
      closeSync(file);
      return;
    } catch (error) {
      if (error.code !== "EEXIST") throw error;
    }
    if (!isAlive(lockHolder())) rmSync(lock, { force: true });
    else {
      if (!waited) console.error("palaver: another process is installing dependencies; waiting for it …");
      waited = true;
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 200);
    }
  }
}

function lockHolder() {
  try {
    return Number(readFileSync(lock, "utf8"));
  } catch {
    return Number.NaN; // The lock file was removed meanwhile.
  }
}

function isAlive(pid) {
  if (Number.isNaN(pid)) return false;
  // An empty file is being written right now, or its writer died while writing.
  if (pid === 0) return Date.now() - (statSync(lock, { throwIfNoEntry: false })?.mtimeMs ?? 0) < 5000;
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return error.code === "EPERM";
  }
}
