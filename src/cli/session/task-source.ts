import { operatorFileOf, readOperatorFile } from "../../platform/observe/operator-file.ts";
import { DEFAULT_STORE } from "../../platform/settings/settings.ts";
import { openStoredTasks } from "../../platform/tracing/stored-tasks.ts";
import { MAX_CHILDREN, type TaskHistory, type TaskSource } from "../../platform/tracing/task-history.ts";
import type { CliContext } from "../context.ts";
import { type OperatorClient, OperatorError, type OperatorFlags, operatorClient } from "./operator-client.ts";

/**
 * Where tasks are read: from the operator API if the server of the store is running, or if `url` names a server; else from the store itself. Throws a
 * `StartupError` that says what to do.
 */
export async function openTaskSource(flags: OperatorFlags, context: CliContext): Promise<TaskSource> {
  const { store = DEFAULT_STORE, url } = flags;
  const file = operatorFileOf(store, context.cwd);
  const address = url ?? (file === undefined ? undefined : readOperatorFile(file)?.url);
  if (address === undefined) return openStoredTasks(store, context.cwd);
  const client = operatorClient(flags, context);
  try {
    await client.get("/server");
  } catch (error) {
    // The address in the file is that of the last server, which may have ended; another program may listen there now.
    const isGone = error instanceof OperatorError && error.reason === "absent";
    if (url !== undefined || !isGone) throw error;
    return openStoredTasks(store, context.cwd);
  }
  return servedTasks(client);
}

/** The members of an answer about a task that are read. */
interface TaskAnswer extends Pick<TaskHistory, "trace" | "journal"> {
  readonly task: ShownTask;
}

/** A task as the operator API shows it. Times are ISO 8601. */
interface ShownTask extends Pick<TaskHistory, "contextId" | "agent" | "state"> {
  readonly id: string;
  readonly createdAt: string;
  readonly statusAt: string;
}

/** Reads tasks through the operator API. */
function servedTasks(client: OperatorClient): TaskSource {
  return {
    async task(key) {
      const answer = await client.get(pathOf(key)).catch((error: unknown) => {
        if (error instanceof OperatorError && error.reason === "not-found") return undefined;
        throw error;
      });
      if (answer === undefined) return undefined;
      // Safe: the server of this store wrote it.
      const { task, trace, journal } = answer as object as TaskAnswer;
      const found = await client.get("/tasks", { parent: key, limit: String(MAX_CHILDREN) });
      // Safe, as above.
      const children = found["tasks"] as readonly ShownTask[];
      return { ...taskOf(task), contextId: task.contextId, trace, journal, children: children.map(taskOf) };
    },
    async log(key, after) {
      const { events } = await client.get(`${pathOf(key)}/events`, { after: String(after) });
      // Safe, as above.
      const entries = events as readonly { readonly seq: number; readonly event: object }[];
      return entries.map(({ seq, event }) => ({ seq, body: JSON.stringify(event) }));
    },
    close: () => Promise.resolve(),
  };
}

function taskOf({ id, agent, state, createdAt, statusAt }: ShownTask): TaskHistory["children"][number] {
  return { taskId: id, agent, state, createdAt: Date.parse(createdAt), statusAt: Date.parse(statusAt) };
}

function pathOf(key: string): string {
  return `/tasks/${encodeURIComponent(key)}`;
}
