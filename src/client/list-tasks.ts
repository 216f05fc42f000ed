import type { ContextId } from "../protocol/ids.ts";
import type { Task } from "../protocol/task.ts";
import type { RemoteListRequest } from "../wire/client/client-codec.ts";
import { type AgentHost, unexpected } from "./agent-host.ts";
import type { TaskFilter, TaskPage } from "./api.ts";
import { RemoteError } from "./http/errors.ts";
import { within } from "./within.ts";

/** Reads one page. Rejects with `unsupported-operation` if the agent has no list; 0.x over JSON-RPC has none. */
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

/**
 * All tasks. Each page is requested when the previous one has been read. Rejects with `invalid-agent-response` if the page tokens repeat,
 * because such a list never ends.
 */
export async function* listTasks(host: AgentHost, filter: TaskFilter): AsyncGenerator<Task, void> {
  const isRepeated = repetitionFinder();
  let pageToken: string | undefined;
  do {
    const page: TaskPage = await taskPage(host, { ...filter, ...(pageToken !== undefined && { pageToken }) });
    yield* page.tasks;
    if (page.nextPageToken !== "" && isRepeated(page.nextPageToken)) {
      throw new RemoteError("invalid-agent-response", "The agent's list never ends: its page tokens repeat.");
    }
    pageToken = page.nextPageToken;
  } while (pageToken !== "");
}

/**
 * Recognises that tokens repeat, however many different ones there are, and remembers only one of them (Brent's algorithm): the token after
 * 1, 2, 4, 8 … pages. A cycle of n tokens is found after at most 3 × n pages of it.
 */
function repetitionFinder(): (token: string) => boolean {
  let remembered: string | undefined;
  let pages = 0;
  let rememberNextAt = 1;
  return (token) => {
    if (token === remembered) return true;
    pages += 1;
    if (pages === rememberNextAt) {
      remembered = token;
      rememberNextAt *= 2;
    }
    return false;
  };
}
