// Checks the tarball: that its manifest is valid (publint) and its types resolve (attw).
import { spawnSync } from "node:child_process";
import { packCopy } from "./pack-copy.ts";

const packed = await packCopy();
try {
  for (const [command, ...args] of [
    ["publint", "run", packed.tarball, "--strict"],
    ["attw", packed.tarball, "--profile", "esm-only"],
  ] as const) {
    const { status } = spawnSync(command, args, { stdio: "inherit" });
    if (status !== 0) process.exitCode = 1;
  }
} finally {
  await packed.remove();
}
