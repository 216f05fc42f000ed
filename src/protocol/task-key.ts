import type { TaskId } from "./ids.ts";
import type { Scope } from "./principal.ts";

/**
 * A2A 0.1 clients choose task ids, and two clients may choose the same. Such a task is stored under a key made of its scope and its id; callers
 * only see the id. The key of a task whose id the server created is the id itself.
 */
const MARK = "~";

/**
 * The key of the task with the client-chosen id `name` in this scope: agent `echo`, no tenant, owner `anna` and name `t1` give
 * `~echo~~anna~t1`.
 */
export function namedTask({ agent, tenant, owner }: Scope, name: string): TaskId {
  const scope = [agent, tenant, owner].map(escaped).join(MARK);
  // Safe cast: only this file and the engine create keys.
  return `${MARK}${scope}${MARK}${name}` as TaskId;
}

/** The task id that callers see: `~echo~~anna~t1` becomes `t1`, any other key stays as it is. */
export function publicTaskId(key: TaskId): TaskId {
  if (!key.startsWith(MARK)) return key;
  let end = 0;
  for (let part = 0; part < 3; part++) end = key.indexOf(MARK, end + 1);
  return key.slice(end + 1) as TaskId;
}

/** The key under which a task with this id is most likely stored. */
export function taskKey(scope: Scope, id: TaskId): TaskId {
  return isServerMade(id) ? id : namedTask(scope, id);
}

/** Another possible key: a client may have chosen an id that looks like one of the server. `undefined`: there is no other. */
export function otherTaskKey(scope: Scope, id: TaskId): TaskId | undefined {
  return isServerMade(id) ? namedTask(scope, id) : undefined;
}

const UUID_V7 = /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[0-9a-f]{4}-[0-9a-f]{12}$/;

/** This server creates only UUIDs of version 7. */
function isServerMade(id: string): boolean {
  return id.length === 36 && UUID_V7.test(id);
}

function escaped(text: string): string {
  return encodeURIComponent(text.toWellFormed()).replaceAll(MARK, "%7E");
}
