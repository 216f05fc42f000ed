// Runs before the npm scripts, on any Node from 20 on: installs the dependencies if they are missing, incomplete or
// different from the lock file, and otherwise prints nothing. Prints to stderr only: stdout belongs to the script.
// With --run it installs only what a server needs; the development packages follow with the first script that needs them.
import { spawnSync } from "node:child_process";
import {
  closeSync,
  copyFileSync,
  existsSync,
  mkdirSync,
  openSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
  writeSync,
} from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { restore } from "./published-manifest.mjs";
import { runPackages } from "./run-packages.mjs";

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const lock = join(root, ".install.lock");
/** Where the packages for running are installed, before they move to node_modules. */
const staging = join(root, ".install");
const OLDEST_NODE = 24;
const onlyRuns = process.argv.includes("--run");
const needsNode = Number.parseInt(process.versions.node, 10) < OLDEST_NODE;

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
    const wanted = wantedLock().packages;
    const present = JSON.parse(readFileSync(join(root, "node_modules", ".package-lock.json"), "utf8")).packages;
    for (const [path, entry] of Object.entries(wanted)) {
      if (path === "") continue;
      const found = present[path];
      // Packages for other platforms are in the lock file but not on the disk.
      if (found === undefined ? !entry.optional : found.version !== entry.version) return false;
    }
    const ownNode = join(root, "node_modules", "node", "bin", process.platform === "win32" ? "node.exe" : "node");
    return (onlyRuns && !needsNode) || existsSync(ownNode);
  } catch {
    return false;
  }
}

/** The lock file with the packages that this script needs. */
function wantedLock() {
  const whole = JSON.parse(readFileSync(join(root, "package-lock.json"), "utf8"));
  return onlyRuns ? runPackages(whole, needsNode).lock : whole;
}

function install() {
  takeLock();
  try {
    if (isInstalled()) return; // Another process installed while this one waited.
    console.error("palaver: installing dependencies, once (npm ci) …");
    if (onlyRuns) installForRunning();
    else ci(root);
  } finally {
    rmSync(staging, { recursive: true, force: true });
    rmSync(lock, { force: true });
  }
}

/** npm cannot omit some development packages and keep others, so the kept ones are installed in a folder of their own first. */
function installForRunning() {
  rmSync(staging, { recursive: true, force: true });
  mkdirSync(staging);
  const { manifest, lock: wanted } = runPackages(
    JSON.parse(readFileSync(join(root, "package-lock.json"), "utf8")),
    needsNode,
  );
  writeFileSync(join(staging, "package.json"), JSON.stringify(manifest));
  writeFileSync(join(staging, "package-lock.json"), JSON.stringify(wanted));
  copyFileSync(join(root, ".npmrc"), join(staging, ".npmrc"));
  if (!ci(staging)) return;
  rmSync(join(root, "node_modules"), { recursive: true, force: true });
  renameSync(join(staging, "node_modules"), join(root, "node_modules"));
}

function ci(folder) {
  const flags = ["ci", "--no-audit", "--no-fund", "--loglevel=error"];
  // The Node that runs npm, not the one in node_modules, which the install replaces.
  const { npm_execpath: npm, npm_node_execpath: node } = process.env;
  const [command, ...first] = npm !== undefined && node !== undefined ? [node, npm] : ["npm"];
  const { status, error } = spawnSync(command, [...first, ...flags], {
    cwd: folder,
    stdio: ["ignore", "ignore", 2],
    shell: process.platform === "win32" && command === "npm",
    // npm sets the folder of the script that runs; this install may be in another.
    env: { ...process.env, npm_config_loglevel: "error", npm_config_local_prefix: folder, INIT_CWD: folder },
  });
  if (status !== 0) {
    console.error(
      `palaver: npm ci failed${error === undefined ? "" : ` (${error.message})`}. Fix the error above and try again.`,
    );
    process.exitCode = 1;
  }
  return status === 0;
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
