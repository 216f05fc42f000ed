import type { StandardSchemaV1 } from "@standard-schema/spec";
import type { Artifact } from "../../protocol/artifact.ts";
import { type Counters, reportedUsage } from "../../protocol/calls/call-tree.ts";
import type { JsonValue } from "../../protocol/json.ts";
import type { Message } from "../../protocol/message.ts";
import { type Part, textOf } from "../../protocol/part.ts";
import type { TerminalState } from "../../protocol/state.ts";
import type { Task } from "../../protocol/task.ts";
import type { CallResult } from "../agent/call-types.ts";
import { CallError, type CallErrorCode } from "./call-error.ts";

/** A result as it is stored: what cannot be computed from the rest. */
export interface StoredResult {
  readonly taskId?: string;
  readonly contextId?: string;
  readonly state: TerminalState;
  readonly artifacts: readonly Artifact[];
  /** Parts of the last message. */
  readonly message?: readonly Part[];
  readonly usage: Counters;
  /** The artifacts are too large to be stored twice, and are read again. */
  readonly isLarge?: true;
}

/** How a call ended, as it is stored. */
export interface StoredEnd {
  readonly result?: StoredResult;
  readonly error?: { readonly code: CallErrorCode; readonly message: string };
}

/** Characters of JSON. Larger results stay with the called task. */
const MAX_STORED = 256 * 1024;

export function resultOfTask(task: Task, state: TerminalState): StoredResult {
  const { id, contextId, status, artifacts = [], metadata } = task;
  return {
    taskId: id,
    contextId,
    state,
    artifacts,
    ...(status.message !== undefined && { message: status.message.parts }),
    usage: reportedUsage(metadata),
  };
}

export function resultOfMessage({ parts, contextId, metadata }: Message): StoredResult {
  return {
    ...(contextId !== undefined && { contextId }),
    state: "completed",
    artifacts: [],
    message: parts,
    usage: reportedUsage(metadata),
  };
}

/** The form of a result that is stored: without its artifacts if they are large. */
export function storable(result: StoredResult): StoredResult {
  if (result.taskId === undefined || JSON.stringify(result.artifacts).length <= MAX_STORED) return result;
  return { ...result, artifacts: [], isLarge: true };
}

/** The result for the author. Rejects with `call-invalid-result` if its data does not fit the schema. */
export async function callResult(result: StoredResult, output: StandardSchemaV1 | undefined): Promise<CallResult> {
  const shown = plainResult(result);
  if (output === undefined || result.state !== "completed") return shown;
  const candidate = shown.data === undefined ? parsed(shown.text) : shown.data;
  const checked = await output["~standard"].validate(candidate);
  if (checked.issues !== undefined) {
    const why = checked.issues.slice(0, 3).map(({ message }) => message);
    throw new CallError(`The result does not have the expected form: ${why.join("; ")}`, {
      code: "call-invalid-result",
      result: shown,
    });
  }
  // Safe: the type of `data` is that of the schema, which has validated it.
  return { ...shown, data: checked.value as JsonValue };
}

export function plainResult({ taskId, contextId, state, artifacts, message, usage }: StoredResult): CallResult {
  const made = artifacts.flatMap(({ parts }) => parts);
  const parts = made.length > 0 ? made : (message ?? []);
  return {
    taskId,
    contextId,
    state,
    text: textOf(parts),
    data: parts.find((part) => part.data !== undefined)?.data,
    parts,
    artifacts,
    usage,
  };
}

function parsed(text: string): JsonValue | undefined {
  try {
    return JSON.parse(text) as JsonValue;
  } catch {
    return text;
  }
}
