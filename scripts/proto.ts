// Compiles `proto/*.proto` into `src/wire/proto/descriptors.ts`. Run it after changing a .proto file. The compiler is downloaded, so that
// contributors who change no .proto file do not need it.
import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

const COMPILER = "@bufbuild/buf@1.74.0";
const ROOT = fileURLToPath(new URL("..", import.meta.url));
const LINE_LENGTH = 110;

const folder = mkdtempSync(join(tmpdir(), "palaver-proto-"));
try {
  const output = join(folder, "descriptors.binpb");
  const args = ["--yes", "--package", COMPILER, "buf", "build", join(ROOT, "proto"), "--exclude-source-info"];
  execFileSync("npx", [...args, "--output", output], { stdio: "inherit" });
  const text = readFileSync(output).toString("base64");
  const lines = text.match(new RegExp(`.{1,${LINE_LENGTH}}`, "g")) ?? [];
  const source = [
    "// Made by `node scripts/proto.ts` from the files in `proto/`; do not edit.",
    "",
    "/** A `google.protobuf.FileDescriptorSet` in base64. */",
    "export const DESCRIPTORS: string = [",
    ...lines.map((line) => `  "${line}",`),
    '].join("");',
    "",
  ];
  writeFileSync(join(ROOT, "src/wire/proto/descriptors.ts"), source.join("\n"));
} finally {
  rmSync(folder, { recursive: true });
}
