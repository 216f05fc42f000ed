import type { GetOptions, HistoryEntry, ListQuery, TaskRecord } from "../contract.ts";
import type { TaskRow } from "./task-row.ts";

export function recordOf(row: TaskRow, options: Omit<GetOptions, "scope">): TaskRecord {
  const { create } = row;
  const { largeBytes = Number.POSITIVE_INFINITY } = options;
  // Without the log, the artifacts cannot be computed again: never leave them out.
  const keepsArtifacts = row.firstSeq > 1 || (row.artifacts?.length ?? 0) <= largeBytes;
  const artifacts = options.artifacts && keepsArtifacts ? row.artifacts : undefined;
  const range = historyRange(row.history, options);
  const history = row.history.slice(range.from, range.to);
  const isLarge = bodyBytes(history) > largeBytes;
  return {
    id: row.id,
    contextId: create.contextId,
    scope: create.scope,
    dialect: create.dialect,
    createdAt: create.at,
    ...(create.parent !== undefined && { parent: create.parent }),
    ...(create.root !== undefined && { root: create.root }),
    head: row.head,
    seq: row.seq,
    firstSeq: row.firstSeq,
    epoch: row.epoch,
    ...(row.node !== undefined && { node: row.node }),
    history: isLarge ? [] : history,
    ...(isLarge && { largeHistory: range }),
    ...(artifacts !== undefined && { artifacts }),
  };
}

/** The first rows that together have at most `maxBytes` bytes; at least one. */
export function firstBytes(rows: readonly TaskRow[], query: ListQuery): readonly TaskRow[] {
  const { maxBytes } = query;
  if (maxBytes === undefined) return rows;
  let bytes = 0;
  const end = rows.findIndex((row, index) => {
    bytes += bytesOf(row, query);
    return index > 0 && bytes > maxBytes;
  });
  return end === -1 ? rows : rows.slice(0, end);
}

/** Approximate bytes of a record that is read with these options. */
function bytesOf(row: TaskRow, options: Pick<ListQuery, "artifacts" | "history">): number {
  const { status, metadata = "" } = row.head;
  const { from, to } = historyRange(row.history, options);
  let bytes = status.length + metadata.length + bodyBytes(row.history.slice(from, to));
  if (options.artifacts) bytes += row.artifacts?.length ?? bodyBytes(row.log);
  return bytes;
}

function bodyBytes(entries: Iterable<{ readonly body: string }>): number {
  let bytes = 0;
  for (const { body } of entries) bytes += body.length;
  return bytes;
}

/** The range of requested messages. `after` never falls from one message to the next. */
function historyRange(
  history: readonly HistoryEntry[],
  { history: limit, upTo }: Pick<GetOptions, "history" | "upTo">,
): { readonly from: number; readonly to: number } {
  const hidden = upTo === undefined ? -1 : history.findIndex((entry) => entry.after > upTo);
  const to = hidden === -1 ? history.length : hidden;
  return { from: limit === undefined ? 0 : Math.max(0, to - limit), to };
}

/** A slice of `entries` that begins at index `from`: at least one entry if there is any, at most about `maxBytes` bytes. */
export function pageOf<T extends { readonly body: string }>(
  entries: readonly T[],
  from: number,
  maxBytes: number,
): T[] {
  let to = from;
  let bytes = 0;
  for (let entry = entries[to]; entry !== undefined; entry = entries[++to]) {
    bytes += entry.body.length;
    if (to > from && bytes > maxBytes) break;
  }
  return entries.slice(from, to);
}
