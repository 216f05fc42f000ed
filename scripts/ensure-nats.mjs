// Runs before the tests, on any Node from 20 on. If no nats-server is found and this machine allows installing one
// (Debian-based, as root), installs it. It never fails: tests that need the server are skipped without it. Prints to stderr only.
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { aptInstall, foldersOf, isExecutable, mayInstallPackages } from "./apt-install.mjs";

/** The path of a program: of a variable, or in the usual folders. */
export function findServer(name, variable, env = process.env) {
  // If the variable is set, no other program is used.
  if (env[variable]) return isExecutable(env[variable]) ? env[variable] : undefined;
  return ["/usr/sbin", "/usr/bin", ...foldersOf(env)].map((folder) => join(folder, name)).find(isExecutable);
}

export function findNatsServer(env = process.env) {
  return findServer("nats-server", "NATS_SERVER_PATH", env);
}

if (process.argv[1] !== undefined && import.meta.url === pathToFileURL(process.argv[1]).href) {
  if (findNatsServer() === undefined && !process.env.NATS_SERVER_PATH && mayInstallPackages()) {
    console.error("palaver: installing a NATS server for the tests, once (apt-get install nats-server) …");
    aptInstall("nats-server");
  }
  if (findNatsServer() === undefined)
    console.error("palaver: no nats-server found; set NATS_SERVER_PATH to run the tests of the NATS bus.");
}
