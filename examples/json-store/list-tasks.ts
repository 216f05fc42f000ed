import type { ListCursor, ListPage, ListQuery, OperatorPage, OperatorQuery } from "palaver/store";
import type { Database } from "./database.ts";
import { isSameScope } from "./operations.ts";
import { bytesOf, firstBytes, historyRange, recordOf, type TaskDocument } from "./task-document.ts";

/** One page of the tasks of a scope. */
export function listTasks(database: Database, query: ListQuery): ListPage {
  const matching = database
    .tasks()
    .filter((task) => isSameScope(task.create.scope, query.scope) && matches(task, query))
    .sort(newestFirst);
  const following = matching.filter((task) => comesAfter(task, query.before));
  const { limit, maxBytes = Number.POSITIVE_INFINITY } = query;
  const page = firstBytes(following.slice(0, limit), maxBytes, (task) => requestedBytes(database, task, query));
  return {
    tasks: page.map((task) => recordOf(task, query)),
    total: matching.length,
    ...nextOf(page, following.length),
  };
}

/** One page of the tasks of all scopes. */
export function listAllTasks(database: Database, query: OperatorQuery): OperatorPage {
  const { agent, tenant, owner, parent, root, statusBefore = Number.POSITIVE_INFINITY } = query;
  const following = database
    .tasks()
    .filter((task) => matches(task, query) && task.head.statusAt < statusBefore)
    .filter(({ create: { scope } }) => isEqual(agent, scope.agent) && isEqual(tenant, scope.tenant))
    .filter(({ create }) => isEqual(owner, create.scope.owner))
    .filter(({ create }) => isEqual(parent, create.parent) && isEqual(root, create.root))
    .filter((task) => comesAfter(task, query.before))
    .sort(newestFirst);
  const page = following.slice(0, query.limit);
  return {
    tasks: page.map((task) => recordOf(task, { artifacts: false, history: 0 })),
    ...nextOf(page, following.length),
  };
}

function matches(
  { create, head }: TaskDocument,
  { contextId, state, statusSince = 0 }: Pick<ListQuery, "contextId" | "state" | "statusSince">,
): boolean {
  return isEqual(contextId, create.contextId) && isEqual(state, head.state) && head.statusAt >= statusSince;
}

function isEqual(wanted: string | undefined, found: string | undefined): boolean {
  return wanted === undefined || wanted === found;
}

function newestFirst(a: TaskDocument, b: TaskDocument): number {
  return b.head.statusAt - a.head.statusAt || (a.id < b.id ? 1 : -1);
}

function comesAfter({ id, head: { statusAt } }: TaskDocument, cursor: ListCursor | undefined): boolean {
  return cursor === undefined || statusAt < cursor.at || (statusAt === cursor.at && id < cursor.id);
}

function nextOf(page: readonly TaskDocument[], count: number): { readonly next?: ListCursor } {
  const last = page.at(-1);
  return last === undefined || page.length === count ? {} : { next: { at: last.head.statusAt, id: last.id } };
}

/** The bytes of what the query asks for, even if `largeBytes` leaves it out. */
function requestedBytes(database: Database, task: TaskDocument, query: ListQuery): number {
  const { from, to } = historyRange(task, query);
  const { status, metadata = "" } = task.head;
  const bytes = status.length + metadata.length + bytesOf(task.history.slice(from, to));
  if (!query.artifacts) return bytes;
  return bytes + (task.artifacts?.length ?? bytesOf(database.log(task, 0)));
}
