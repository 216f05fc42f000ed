// Checks the tarball as others will see it: that its manifest is in order (publint) and its types resolve (attw).
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
