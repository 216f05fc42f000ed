import { existsSync } from "node:fs";
import { resolve } from "node:path";
import { readJournal } from "../../engine/record/journal.ts";
import { readRunner } from "../../engine/record/runner-record.ts";
import type { TaskId } from "../../protocol/ids.ts";
import { publicTaskId } from "../../protocol/task-key.ts";
import { type Store, StoreError } from "../../store/contract.ts";
import { StartupError } from "../startup-error.ts";
import { MAX_CHILDREN, type TaskHistory, type TaskSource } from "./task-history.ts";

const PAGE_BYTES = 1024 * 1024;

/**
 * Opens the store of a server that is not running. `spec`: such as `sqlite:palaver.db`, relative to `cwd`. Throws a {@link StartupError} that says what to
 * do, also if a server uses the store.
 */
export async function openStoredTasks(spec: string, cwd: string): Promise<TaskSource> {
  const name = /^sqlite:(.+)$/.exec(spec)?.[1];
  if (name === undefined) {
    throw new StartupError(
      "usage",
      `The store must be sqlite:FILE, not ${JSON.stringify(spec)}: only it outlives a server.\nName a running server with --url.`,
    );
  }
  const file = resolve(cwd, name);
  if (!existsSync(file)) {
    throw new StartupError(
      "failed",
      `There is no store at ${file}.\nName the server's store with --store sqlite:FILE.`,
    );
  }
  // Loads the driver only if it is used.
  const { openSqliteStore } = await import("../../store/sqlite/store.ts");
  try {
    return storedTasks(await openSqliteStore({ file }));
  } catch (error) {
    if (!(error instanceof StoreError)) throw error;
    throw new StartupError(
      "failed",
      `${error.message}\nA running server is read through its operator API: start it without --no-operator, or name its address with --url.`,
      { cause: error },
    );
  }
}

/** Reads tasks from a store, and closes it. */
function storedTasks(store: Pick<Store, "get" | "log" | "journal" | "listAll" | "close">): TaskSource {
  return {
    task: (key) => readTask(store, asTaskId(key)),
    log: (key, after) => store.log(asTaskId(key), after, PAGE_BYTES),
    close: () => store.close(),
  };
}

async function readTask(
  store: Pick<Store, "get" | "journal" | "listAll">,
  id: TaskId,
): Promise<Omit<TaskHistory, "events"> | undefined> {
  const record = await store.get(id, { artifacts: false, history: 0 });
  if (record === undefined) return undefined;
  const { head, scope, contextId, createdAt } = record;
  const children = await store.listAll({ parent: id, limit: MAX_CHILDREN });
  return {
    taskId: publicTaskId(id),
    contextId,
    agent: scope.agent,
    state: head.state,
    createdAt,
    statusAt: head.statusAt,
    trace: readRunner(head.runner).trace,
    journal: readJournal(await store.journal(id)),
    children: children.tasks.map((child) => ({
      taskId: publicTaskId(child.id),
      agent: child.scope.agent,
      state: child.head.state,
      createdAt: child.createdAt,
      statusAt: child.head.statusAt,
    })),
  };
}

function asTaskId(key: string): TaskId {
  // Safe: a key that no task has is not found.
  return key as TaskId;
}
