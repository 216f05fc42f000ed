import type { ContextId } from "../protocol/ids.ts";
import type { Task } from "../protocol/task.ts";
import type { RemoteListRequest } from "../wire/client/client-codec.ts";
import { type AgentHost, unexpected } from "./agent-host.ts";
import type { TaskFilter, TaskPage } from "./api.ts";
import { RemoteError } from "./http/errors.ts";
import { within } from "./within.ts";

export async function taskPage(
  host: AgentHost,
  filter: TaskFilter & { readonly pageToken?: string },
): Promise<TaskPage> {
  const { contextId, state, since, pageSize = 50, pageToken, artifacts = false, historyLength } = filter;
  const request: RemoteListRequest = {
    operation: "list",
    tenant: host.tenant,
    pageSize,
    artifacts,
    history: historyLength,
    // Safe: ids are branded where they enter.
    ...(contextId !== undefined && { contextId: contextId as ContextId }),
    ...(state !== undefined && { state }),
    ...(since !== undefined && { statusSince: since.getTime() }),
    ...(pageToken !== undefined && { pageToken }),
  };
  const result = await within(host, filter, (signal) => host.ask(request, signal)).catch((thrown: unknown) => {
    throw isMissing(thrown) ? unsupported(thrown) : thrown;
  });
  if (result.kind !== "tasks") throw unexpected(result);
  const { kind: _, ...page } = result;
  return page;
}

/** Whether the agent has no list operation. A list names no task, so a 404 cannot mean a missing task. */
function isMissing(thrown: unknown): thrown is RemoteError {
  if (!(thrown instanceof RemoteError)) return false;
  const { httpStatus, rpcCode } = thrown.remote;
  return rpcCode === undefined && (httpStatus === 404 || httpStatus === 405);
}

function unsupported(error: RemoteError): RemoteError {
  const text = `The agent does not support listing tasks: HTTP ${error.remote.httpStatus}.`;
  return new RemoteError("unsupported-operation", text, { remote: error.remote, cause: error });
}

/** All tasks. Each page is requested when the previous one has been read. */
export async function* listTasks(host: AgentHost, filter: TaskFilter): AsyncGenerator<Task, void> {
  let pageToken: string | undefined;
  do {
    const page: TaskPage = await taskPage(host, { ...filter, ...(pageToken !== undefined && { pageToken }) });
    yield* page.tasks;
    // An agent that repeats a page token would keep this loop running forever.
    if (page.nextPageToken !== "" && page.nextPageToken === pageToken) {
      throw new RemoteError(
        "invalid-agent-response",
        "The agent's list never ends: a page names itself as the next page.",
      );
    }
    pageToken = page.nextPageToken;
  } while (pageToken !== "");
}
