// `npm pack` runs this before (`prepare`) and after (`restore`) it reads the folder.
import { execFileSync } from "node:child_process";
import { rmSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { buildConsole } from "./build-console.mjs";
import { restore, swapIn } from "./published-manifest.mjs";

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const action = process.argv[2];

if (action === "prepare") {
  restore(root);
  rmSync(join(root, "dist"), { recursive: true, force: true });
  await buildConsole();
  execFileSync("tsc", ["--project", "tsconfig.build.json"], { cwd: root, stdio: ["ignore", 2, 2] });
  swapIn(root);
} else if (action === "restore") {
  if (restore(root) !== "restored") {
    console.error("package.json changed during packing: the tarball may be wrong. Delete it and pack again.");
    process.exitCode = 1;
  }
} else {
  console.error("usage: pack.mjs prepare|restore");
  process.exitCode = 2;
}
