import { type KindDigest, RecordDigest } from "./record-digest.ts";
import { RECORD_KINDS, type RecordKind, SECRET_NAMES, type StoreSource, type StoreTarget } from "./records.ts";

export interface CopyProgress {
  readonly phase: "copying" | "checking";
  /** Tasks so far in this phase. */
  readonly tasks: number;
  readonly total: number;
}

export interface CopyOptions {
  readonly signal?: AbortSignal | undefined;
  readonly onProgress?: ((progress: CopyProgress) => void) | undefined;
}

/** What was copied. */
export type CopyResult = Readonly<Record<RecordKind, KindDigest>>;

/** The copy differs from its source. Nothing was committed. */
export class CopyMismatch extends Error {
  override readonly name = "CopyMismatch";
}

/**
 * Copies everything of a store into another one, in one transaction: reads the target back before the commit, and compares the digests of both. If
 * anything fails, nothing is committed. The caller closes both.
 */
export async function copyRecords(
  source: StoreSource,
  target: StoreTarget,
  options: CopyOptions = {},
): Promise<CopyResult> {
  const { signal, onProgress } = options;
  const total = await source.countTasks();
  const pass = async (phase: CopyProgress["phase"]): Promise<CopyResult> => {
    const digest = new RecordDigest();
    let tasks = 0;
    onProgress?.({ phase, tasks, total });
    for await (const records of phase === "copying" ? source.records() : target.records()) {
      signal?.throwIfAborted();
      digest.add(records);
      if (phase === "copying") await target.add(records);
      for (const { kind } of records) if (kind === "task") tasks += 1;
      onProgress?.({ phase, tasks, total });
    }
    return digest.result();
  };
  const copied = await pass("copying");
  compare(copied, await pass("checking"));
  for (const name of SECRET_NAMES) {
    const value = await source.secret(name);
    if (value !== undefined) await target.setSecret(name, value);
  }
  signal?.throwIfAborted();
  await target.commit();
  return copied;
}

function compare(copied: CopyResult, stored: CopyResult): void {
  const different = RECORD_KINDS.filter(
    (kind) => copied[kind].count !== stored[kind].count || copied[kind].digest !== stored[kind].digest,
  );
  if (different.length === 0) return;
  const facts = different.map((kind) => `${kind}: ${copied[kind].count} records read, ${stored[kind].count} stored`);
  throw new CopyMismatch(
    `The copy differs from its source (${facts.join("; ")}). Nothing was stored. Please report this.`,
  );
}
