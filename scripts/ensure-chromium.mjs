// Runs before the tests, on any Node from 20 on. If no Chromium is found and this machine allows installing one
// (Debian-based, as root), installs it; otherwise prints nothing, or what is missing. It never fails: the tests
// decide whether they need a browser. Prints to stderr only.
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { aptInstall, foldersOf, isExecutable, mayInstallPackages } from "./apt-install.mjs";

const NAMES = ["chromium", "chromium-browser", "google-chrome", "google-chrome-stable"];
const PLACES = [
  "/Applications/Google Chrome.app/Contents/MacOS/Google Chrome",
  "/Applications/Chromium.app/Contents/MacOS/Chromium",
  "C:\\Program Files\\Google\\Chrome\\Application\\chrome.exe",
];

export function findChromium(env = process.env) {
  // If CHROMIUM_PATH is set, no other browser is used.
  if (env.CHROMIUM_PATH) return isExecutable(env.CHROMIUM_PATH) ? env.CHROMIUM_PATH : undefined;
  const named = NAMES.flatMap((name) => ["/usr/bin", ...foldersOf(env)].map((folder) => join(folder, name)));
  return [...named, ...PLACES].find(isExecutable);
}

function mayInstall() {
  return !process.env.CHROMIUM_PATH && mayInstallPackages();
}

function install() {
  console.error("palaver: installing Chromium for the browser tests, once (apt-get install chromium) …");
  aptInstall("chromium");
}

if (process.argv[1] !== undefined && import.meta.url === pathToFileURL(process.argv[1]).href) {
  if (findChromium() === undefined && mayInstall()) install();
  if (findChromium() === undefined) {
    console.error("palaver: no Chromium found; set CHROMIUM_PATH to run the browser tests.");
  }
}
