import { readFileSync } from "node:fs";
import { join } from "node:path";
import { ROOT } from "../../architecture/imports.ts";

/** The installed version of the package with this alias. */
export function installedVersion(alias: string): string {
  const manifest: unknown = JSON.parse(readFileSync(join(ROOT, "node_modules", alias, "package.json"), "utf8"));
  if (typeof manifest === "object" && manifest !== null && "version" in manifest) return String(manifest.version);
  throw new Error(`${alias} has no version in its manifest.`);
}
