import type { ListCursor, ListPage, ListQuery, OperatorPage, OperatorQuery } from "../contract.ts";
import { firstBytes, recordOf } from "./task-record.ts";
import type { TaskRow } from "./task-row.ts";

/** One page of the tasks of a scope. */
export function listTasks(scope: Iterable<TaskRow>, query: ListQuery): ListPage {
  const { contextId, state, statusSince, before, limit } = query;
  const matching = Array.from(scope).filter(
    ({ create, head }) =>
      (contextId === undefined || create.contextId === contextId) &&
      (state === undefined || head.state === state) &&
      (statusSince === undefined || head.statusAt >= statusSince),
  );
  const following = before === undefined ? matching : matching.filter((row) => comesAfter(row, before));
  following.sort(newestFirst);
  const rows = firstBytes(following.slice(0, limit), query);
  return {
    tasks: rows.map((row) => recordOf(row, query)),
    total: matching.length,
    ...nextOf(rows, following.length),
  };
}

/** One page of the tasks of all scopes. */
export function listAllTasks(all: Iterable<TaskRow>, query: OperatorQuery): OperatorPage {
  const following = Array.from(all).filter((row) => isSelected(row, query));
  following.sort(newestFirst);
  const rows = following.slice(0, query.limit);
  return {
    tasks: rows.map((row) => recordOf(row, { artifacts: false, history: 0 })),
    ...nextOf(rows, following.length),
  };
}

function isSelected(row: TaskRow, query: OperatorQuery): boolean {
  const { create, head } = row;
  const { scope } = create;
  const { statusSince, statusBefore, before } = query;
  return (
    matches(query.agent, scope.agent) &&
    matches(query.tenant, scope.tenant) &&
    matches(query.owner, scope.owner) &&
    matches(query.contextId, create.contextId) &&
    matches(query.state, head.state) &&
    matches(query.parent, create.parent) &&
    matches(query.root, create.root) &&
    (statusSince === undefined || head.statusAt >= statusSince) &&
    (statusBefore === undefined || head.statusAt < statusBefore) &&
    (before === undefined || comesAfter(row, before))
  );
}

function matches(wanted: string | undefined, found: string | undefined): boolean {
  return wanted === undefined || wanted === found;
}

/** The cursor of the next page; nothing if these rows are the last of `count`. */
function nextOf(rows: readonly TaskRow[], count: number): { readonly next?: ListCursor } {
  const last = rows.at(-1);
  return last === undefined || rows.length >= count ? {} : { next: { at: last.head.statusAt, id: last.id } };
}

function newestFirst(a: TaskRow, b: TaskRow): number {
  return b.head.statusAt - a.head.statusAt || (a.id < b.id ? 1 : -1);
}

function comesAfter(row: TaskRow, cursor: ListCursor): boolean {
  const { statusAt } = row.head;
  return statusAt < cursor.at || (statusAt === cursor.at && row.id < cursor.id);
}
