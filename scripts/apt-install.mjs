// Installs programs that tests need, on Debian-based machines and as root. Runs on any Node from 20 on. Prints to stderr only.
import { spawnSync } from "node:child_process";
import { accessSync, constants, existsSync } from "node:fs";
import { delimiter } from "node:path";

const INSTALL_TIMEOUT_MS = 300_000;

export function mayInstallPackages() {
  return process.getuid?.() === 0 && existsSync("/usr/bin/apt-get");
}

/** The folders in which programs are looked for. */
export function foldersOf(env) {
  return (env.PATH ?? "").split(delimiter).filter((folder) => folder !== "");
}

export function isExecutable(path) {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}

/** Never fails: prints why the package could not be installed. */
export function aptInstall(name) {
  const packages = ["install", "-y", "-qq", "--no-install-recommends", name];
  // Updates the package lists only if installing fails, because updating is slow.
  const { ok, said } = aptGet(packages);
  if (ok) return;
  const update = aptGet(["update", "-qq"]);
  const again = aptGet(packages);
  if (!again.ok) console.error([said, update.said, again.said].join("").trim());
}

function aptGet(words) {
  const patience = ["DPkg::Lock::Timeout=120", "Acquire::Retries=1", "Acquire::http::Timeout=20"];
  const { status, stdout, stderr } = spawnSync(
    "/usr/bin/apt-get",
    [...patience.flatMap((each) => ["-o", each]), ...words],
    {
      stdio: ["ignore", "pipe", "pipe"],
      encoding: "utf8",
      timeout: INSTALL_TIMEOUT_MS,
      env: { ...process.env, DEBIAN_FRONTEND: "noninteractive" },
    },
  );
  return { ok: status === 0, said: `${stdout ?? ""}${stderr ?? ""}` };
}
