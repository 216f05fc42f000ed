import { findPackageJSON } from "node:module";

const PACKAGE = "@modelcontextprotocol/client";

/** Throws an `Error` that names the package if it is not installed. `what` needs it. */
export function requireMcpClient(what: string): void {
  try {
    if (findPackageJSON(PACKAGE, import.meta.url) !== undefined) return;
  } catch {
    // It is not installed.
  }
  throw new Error(`${what} need the package ${PACKAGE}, which is not installed. Run \`npm install ${PACKAGE}\`.`);
}
