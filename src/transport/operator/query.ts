import type { TaskFilter } from "../../operator/list-tasks.ts";
import { MAX_TASKS } from "../../operator/list-tasks.ts";
import { invalidField } from "../../protocol/error.ts";
import type { ContextId, TaskId } from "../../protocol/ids.ts";
import { TASK_STATES } from "../../protocol/state.ts";

/** Characters of one parameter. */
const MAX_VALUE = 2048;

/** Query parameters that must all be known and occur once. Throws `invalid-params`. */
export function knownParameters(query: URLSearchParams, known: readonly string[]): ReadonlyMap<string, string> {
  const found = new Map<string, string>();
  for (const [name, value] of query) {
    if (!known.includes(name))
      throw invalidField(name.slice(0, 64), `is not a parameter; use ${known.join(", ") || "none"}`);
    if (found.has(name)) throw invalidField(name, "must occur once");
    if (value.length > MAX_VALUE) throw invalidField(name, `must have at most ${MAX_VALUE} characters`);
    found.set(name, value);
  }
  return found;
}

/** A whole number from `min` to `max`; `undefined` if absent. */
export function wholeNumber(
  parameters: ReadonlyMap<string, string>,
  name: string,
  [min, max]: readonly [number, number],
): number | undefined {
  const text = parameters.get(name);
  if (text === undefined) return undefined;
  const value = /^\d{1,15}$/.test(text) ? Number(text) : Number.NaN;
  if (value >= min && value <= max) return value;
  throw invalidField(name, `must be a whole number from ${min} to ${max}`);
}

const TASK_PARAMETERS = [
  ...["agent", "state", "tenant", "owner", "context", "parent", "root", "since", "before", "limit", "cursor", "text"],
];

/** The filters in the query of a list of tasks. */
export function taskFilter(query: URLSearchParams): TaskFilter {
  const parameters = knownParameters(query, TASK_PARAMETERS);
  const text = (name: string): string | undefined => parameters.get(name);
  const [agent, tenant, owner] = [text("agent"), text("tenant"), text("owner")];
  const state = stateFrom(text("state"));
  const [since, before] = [timeFrom(parameters, "since"), timeFrom(parameters, "before")];
  // Safe casts: an id that no task has finds nothing.
  const [context, parent, root] = [text("context"), text("parent"), text("root")] as const;
  return {
    limit: wholeNumber(parameters, "limit", [1, MAX_TASKS]),
    cursor: text("cursor"),
    hasText: truth(parameters, "text"),
    ...(agent !== undefined && { agent }),
    ...(tenant !== undefined && { tenant }),
    ...(owner !== undefined && { owner }),
    ...(context !== undefined && { contextId: context as ContextId }),
    ...(parent !== undefined && { parent: parent as TaskId }),
    ...(root !== undefined && { root: root as TaskId }),
    ...(state !== undefined && { state }),
    ...(since !== undefined && { statusSince: since }),
    ...(before !== undefined && { statusBefore: before }),
  };
}

/** `true` or `false`; `undefined` if absent. */
export function truth(parameters: ReadonlyMap<string, string>, name: string): boolean | undefined {
  const text = parameters.get(name);
  if (text === undefined || text === "true" || text === "false")
    return text === undefined ? undefined : text === "true";
  throw invalidField(name, "must be true or false");
}

function stateFrom(text: string | undefined): (typeof TASK_STATES)[number] | undefined {
  if (text === undefined) return undefined;
  const state = TASK_STATES.find((name) => name === text);
  if (state === undefined) throw invalidField("state", `must be one of ${TASK_STATES.join(", ")}`);
  return state;
}

/** ISO 8601, in milliseconds since 1970. */
function timeFrom(parameters: ReadonlyMap<string, string>, name: string): number | undefined {
  const text = parameters.get(name);
  if (text === undefined) return undefined;
  const time = /^\d{4}-\d{2}-\d{2}(?:T[\d:.]+(?:Z|[+-]\d{2}:\d{2}))?$/.test(text) ? Date.parse(text) : Number.NaN;
  if (Number.isNaN(time)) throw invalidField(name, "must be a time such as 2030-01-31T12:00:00Z");
  return time;
}
