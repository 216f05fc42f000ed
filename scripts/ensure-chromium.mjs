// Runs before the tests, on any Node from 20 on. If no Chromium is found and this machine allows installing one
// (Debian-based, as root), installs it; otherwise prints nothing, or what is missing. It never fails: the tests
// decide whether they need a browser. Prints to stderr only.
import { spawnSync } from "node:child_process";
import { accessSync, constants, existsSync } from "node:fs";
import { delimiter, join } from "node:path";
import { pathToFileURL } from "node:url";

const NAMES = ["chromium", "chromium-browser", "google-chrome", "google-chrome-stable"];
const PLACES = [
  "/Applications/Google Chrome.app/Contents/MacOS/Google Chrome",
  "/Applications/Chromium.app/Contents/MacOS/Chromium",
  "C:\\Program Files\\Google\\Chrome\\Application\\chrome.exe",
];
const INSTALL_TIMEOUT_MS = 300_000;

export function findChromium(env = process.env) {
  // If CHROMIUM_PATH is set, no other browser is used.
  if (env.CHROMIUM_PATH) return isExecutable(env.CHROMIUM_PATH) ? env.CHROMIUM_PATH : undefined;
  const folders = (env.PATH ?? "").split(delimiter).filter((folder) => folder !== "");
  const named = NAMES.flatMap((name) => ["/usr/bin", ...folders].map((folder) => join(folder, name)));
  return [...named, ...PLACES].find(isExecutable);
}

function isExecutable(path) {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}

function mayInstall() {
  return !process.env.CHROMIUM_PATH && process.getuid?.() === 0 && existsSync("/usr/bin/apt-get");
}

function install() {
  console.error("palaver: installing Chromium for the browser tests, once (apt-get install chromium) …");
  const packages = ["install", "-y", "-qq", "--no-install-recommends", "chromium"];
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

if (process.argv[1] !== undefined && import.meta.url === pathToFileURL(process.argv[1]).href) {
  if (findChromium() === undefined && mayInstall()) install();
  if (findChromium() === undefined) {
    console.error("palaver: no Chromium found; set CHROMIUM_PATH to run the browser tests.");
  }
}
