import { createReadStream } from "node:fs";
import { basename } from "node:path";
import { createInterface } from "node:readline";
import type { FileChange } from "./disk.ts";

/** What the recorded process did, in order. `sync-begins` and `sync-ends` are the two ends of an `fsync` of one thread. */
export type RecordedCall =
  | { readonly kind: "change"; readonly file: string; readonly change: FileChange }
  | { readonly kind: "sync-begins"; readonly file: string; readonly thread: string }
  | { readonly kind: "sync-ends"; readonly file: string; readonly thread: string }
  | { readonly kind: "answered"; readonly line: string };

/** Arguments of strace: what {@link readCalls} reads. */
export const STRACE_OPTIONS: readonly string[] = [
  ...["-f", "-qq", "-y", "-xx", "-s", "16777216", "--seccomp-bpf"],
  ...["-e", "trace=write,pwrite64,pwritev,ftruncate,fsync,fdatasync", "-e", "signal=none"],
];

/** The database, its write-ahead log, and what callers were answered. The other files of the folder are written once, at the start. */
const FILES: ReadonlySet<string> = new Set(["palaver.db", "palaver.db-wal", "answered"]);

const BEGINS = /^(\d+) +(\w+)\((\d+)<((?:\\x[0-9a-f]{2})+)>(.*)$/;
const RESUMES = /^(\d+) +<\.\.\. (fsync|fdatasync) resumed>\)? += 0/;
const BYTES = /^, "((?:\\x[0-9a-f]{2})*)", (\d+)(?:, (\d+))?/;

/**
 * Reads the calls of a trace that concern the files of a folder: the files of the database, and `answered`, to which the process writes what callers know.
 * Throws on a call that it does not understand, because a write that is left out would make the result worthless.
 */
export async function* readCalls(trace: string, folder: string): AsyncGenerator<RecordedCall> {
  const syncing = new Map<string, string>();
  for await (const line of createInterface({ input: createReadStream(trace) })) {
    const [, resumed] = RESUMES.exec(line) ?? [];
    if (resumed !== undefined) {
      const file = syncing.get(resumed);
      syncing.delete(resumed);
      if (file !== undefined) yield { kind: "sync-ends", file, thread: resumed };
      continue;
    }
    const [, thread = "", name = "", , hex = "", rest = ""] = BEGINS.exec(line) ?? [];
    const path = textOf(hex);
    if (thread === "" || !path.startsWith(folder)) continue;
    const file = basename(path);
    if (!FILES.has(file)) continue;
    if (name === "fsync" || name === "fdatasync") {
      yield { kind: "sync-begins", file, thread };
      if (rest.endsWith("<unfinished ...>")) syncing.set(thread, file);
      else if (/\) += 0$/.test(rest)) yield { kind: "sync-ends", file, thread };
      continue;
    }
    if (name === "ftruncate") {
      const length = Number(/^, (\d+)/.exec(rest)?.[1]);
      yield { kind: "change", file, change: { kind: "truncate", length } };
      continue;
    }
    const [, data = "", , offset] = BYTES.exec(rest) ?? [];
    const bytes = bytesOf(data);
    if (file === "answered") {
      for (const answered of bytes.toString().split("\n"))
        if (answered !== "") yield { kind: "answered", line: answered };
      continue;
    }
    if (name !== "pwrite64" || offset === undefined) throw new Error(`Cannot replay this call: ${line.slice(0, 200)}`);
    yield { kind: "change", file, change: { kind: "write", offset: Number(offset), bytes } };
  }
}

const bytesOf = (hex: string): Buffer => Buffer.from(hex.replaceAll("\\x", ""), "hex");
const textOf = (hex: string): string => bytesOf(hex).toString();
