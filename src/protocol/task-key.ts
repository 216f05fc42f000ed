import type { TaskId } from "./ids.ts";
import type { Scope } from "./principal.ts";

/**
 * Some callers name their tasks themselves, and two of them may choose the same name. So a named task is kept under a key made
 * of its scope and its name, while callers only ever see the name. A task that the server named has that name as its key.
 */
const MARK = "~";

/** The key of the task this scope calls `name`. */
export function namedTask({ agent, tenant, owner }: Scope, name: string): TaskId {
  const scope = [agent, tenant, owner].map(escaped).join(MARK);
  // Safe: keys are made here and by the engine alone.
  return `${MARK}${scope}${MARK}${name}` as TaskId;
}

/** What callers call the task of this key. */
export function publicTaskId(key: TaskId): TaskId {
  if (!key.startsWith(MARK)) return key;
  let end = 0;
  for (let part = 0; part < 3; part++) end = key.indexOf(MARK, end + 1);
  return key.slice(end + 1) as TaskId;
}

/** The key under which this scope's task of that id is most likely found. */
export function taskKey(scope: Scope, id: TaskId): TaskId {
  return isServerMade(id) ? id : namedTask(scope, id);
}

/** Where else to look: a caller may have chosen a name that looks like the server's own. */
export function otherTaskKey(scope: Scope, id: TaskId): TaskId | undefined {
  return isServerMade(id) ? namedTask(scope, id) : undefined;
}

const UUID_V7 = /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[0-9a-f]{4}-[0-9a-f]{12}$/;

function isServerMade(id: string): boolean {
  return id.length === 36 && UUID_V7.test(id);
}

function escaped(text: string): string {
  return encodeURIComponent(text.toWellFormed()).replaceAll(MARK, "%7E");
}
