// npm omits optional packages (binaries for other platforms) from the lock file if the registry in use does not have
// them, and then `npm ci` refuses that lock file on other platforms. This script adds them. Run it after changing
// dependencies.
import { readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

export interface LockEntry {
  readonly version?: string;
  readonly optionalDependencies?: Readonly<Record<string, string>>;
}

const SYSTEMS = ["android", "darwin", "linux", "win32", "freebsd", "openharmony", "aix", "sunos", "netbsd", "openbsd"];
const PROCESSORS = ["arm64", "x64", "arm", "ia32", "ppc64", "riscv64", "s390x", "wasm32", "loong64", "mips64el"];

/** The optional packages that entries of a lock file require and that it does not contain: their places in it, and their versions. */
export function missingOptionals(packages: Readonly<Record<string, LockEntry>>): ReadonlyMap<string, string> {
  const missing = new Map<string, string>();
  for (const [path, { optionalDependencies = {} }] of Object.entries(packages)) {
    for (const [name, range] of Object.entries(optionalDependencies)) {
      const [top, nested] = [`node_modules/${name}`, `${path}/node_modules/${name}`];
      if (Object.hasOwn(packages, nested)) continue;
      const version = range.replace(/^[~^]/, "");
      const found = packages[top]?.version;
      if (found === undefined) missing.set(top, version);
      // Another package requires another major version of it.
      else if (/^\d/.test(version) && majorOf(found) !== majorOf(version)) missing.set(nested, version);
    }
  }
  return missing;
}

function majorOf(version: string): string | undefined {
  return version.split(".")[0];
}

function entryFor(name: string, version: string): object {
  const words = name.split(/[/-]/);
  const cpu = PROCESSORS.find((word) => words.includes(word));
  const os = SYSTEMS.find((word) => words.includes(word)) ?? (words.includes("windows") ? "win32" : undefined);
  if (cpu === undefined || !/^\d+\.\d+\.\d+/.test(version)) {
    throw new Error(`The platform of ${name}@${version} is unknown: add the package to package-lock.json by hand.`);
  }
  const libc = words.some((word) => word.startsWith("musl"))
    ? "musl"
    : words.some((word) => word.startsWith("gnu"))
      ? "glibc"
      : undefined;
  return {
    version,
    cpu: [cpu],
    dev: true,
    ...(libc !== undefined && { libc: [libc] }),
    optional: true,
    ...(os !== undefined && { os: [os] }),
  };
}

if (import.meta.main) {
  const file = join(dirname(dirname(fileURLToPath(import.meta.url))), "package-lock.json");
  const lock = JSON.parse(readFileSync(file, "utf8")) as { packages: Record<string, LockEntry> };
  const missing = missingOptionals(lock.packages);
  for (const [place, version] of missing) lock.packages[place] = entryFor(place, version);
  lock.packages = Object.fromEntries(Object.entries(lock.packages).sort(([a], [b]) => a.localeCompare(b, "en")));
  writeFileSync(file, `${JSON.stringify(lock, undefined, 2)}\n`);
  console.log(`${missing.size} optional packages added to package-lock.json`);
}
