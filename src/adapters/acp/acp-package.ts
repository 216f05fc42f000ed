import { findPackageJSON } from "node:module";

const PACKAGE = "@agentclientprotocol/sdk";

/** Throws an `Error` that names the package if it is not installed. */
export function requireAcpSdk(): void {
  try {
    if (findPackageJSON(PACKAGE, import.meta.url) !== undefined) return;
  } catch {
    // It is not installed.
  }
  throw new Error(`acpAgent() needs the package ${PACKAGE}, which is not installed. Run \`npm install ${PACKAGE}\`.`);
}
