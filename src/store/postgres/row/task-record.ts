import type { ContextId, TaskId } from "../../../protocol/ids.ts";
import type { Scope } from "../../../protocol/principal.ts";
import type { TaskState } from "../../../protocol/state.ts";
import type { DueTask, HistoryEntry, TaskHead, TaskRecord } from "../../contract.ts";
import { originalText } from "./text.ts";

/** The columns of a scope. */
export interface ScopeRow {
  readonly agent: string;
  readonly tenant: string;
  readonly owner: string;
}

/** The columns of a head. */
export interface HeadRow {
  readonly state: TaskState;
  readonly status: string;
  readonly status_at: number;
  readonly metadata: string | null;
  readonly runner: string;
  readonly active: boolean;
  readonly wake_at: number | null;
}

/** A task as `read/task-query.ts` selects it. */
export interface TaskRow extends ScopeRow, HeadRow {
  readonly id: string;
  readonly context: string;
  readonly dialect: string;
  readonly created_at: number;
  readonly parent: string | null;
  readonly root: string | null;
  readonly last_seq: number;
  readonly first_seq: number;
  readonly epoch: number;
  readonly node: string;
  readonly messages_from: number;
  readonly messages_to: number;
  /** `[after, body, inbox]` of each message; null: there is none, or they are left out. */
  readonly messages: readonly (readonly [number, string, string | null])[] | null;
  readonly is_large: boolean;
  /** False for the first task behind a page: its contents are left out. */
  readonly included: boolean;
  readonly artifacts: string | null;
}

/** A task as the function `claim_due_1` returns it. */
export interface DueRow extends ScopeRow, HeadRow {
  readonly id: string;
  readonly epoch: number;
  readonly formerNode: string;
  readonly seq: number;
}

export function recordOf(row: TaskRow): TaskRecord {
  const { parent, root, node, artifacts } = row;
  return {
    id: originalText(row.id) as TaskId, // Safe: stored ids were task ids.
    contextId: originalText(row.context) as ContextId, // Safe: stored as a context id.
    scope: scopeOf(row),
    dialect: row.dialect,
    createdAt: row.created_at,
    ...(parent !== null && { parent: originalText(parent) as TaskId }),
    ...(root !== null && { root: originalText(root) as TaskId }),
    head: headOf(row),
    seq: row.last_seq,
    firstSeq: row.first_seq,
    epoch: row.epoch,
    ...(node !== "" && { node: originalText(node) }),
    history: (row.messages ?? []).map(historyEntryOf),
    ...(row.is_large && { largeHistory: { from: row.messages_from, to: row.messages_to } }),
    ...(artifacts !== null && { artifacts: originalText(artifacts) }),
  };
}

export function dueTaskOf(row: DueRow): DueTask {
  const { id, epoch, formerNode, seq } = row;
  return {
    id: originalText(id) as TaskId, // Safe: stored ids were task ids.
    scope: scopeOf(row),
    epoch,
    ...(formerNode !== "" && { formerNode: originalText(formerNode) }),
    head: headOf(row),
    seq,
  };
}

export function scopeOf({ agent, tenant, owner }: ScopeRow): Scope {
  return { agent: originalText(agent), tenant: originalText(tenant), owner: originalText(owner) };
}

export function historyEntryOf([after, body, inbox]: readonly [number, string, string | null]): HistoryEntry {
  return { after, body: originalText(body), ...(inbox !== null && { inbox: originalText(inbox) }) };
}

export function headOf({ state, status, status_at, metadata, runner, active, wake_at }: HeadRow): TaskHead {
  return {
    state,
    status: originalText(status),
    statusAt: status_at,
    ...(metadata !== null && { metadata: originalText(metadata) }),
    runner: originalText(runner),
    active,
    ...(wake_at !== null && { wakeAt: wake_at }),
  };
}
