import type { TaskId } from "../protocol/ids.ts";
import type { PushConfig } from "../protocol/operation.ts";
import type { ClientRequest, RemoteResult } from "../wire/client/client-codec.ts";
import { type AgentHost, unexpected } from "./agent-host.ts";
import type { RemotePush } from "./api.ts";
import { RemoteError } from "./http/errors.ts";
import { within } from "./within.ts";

type PushRequest = Extract<ClientRequest, { operation: `push-${string}` }>;

/** Listing stops with an error after this many webhooks. */
const MAX_CONFIGS = 10_000;

/** The webhooks of one task. */
export function createRemotePush(host: AgentHost, taskId: TaskId): RemotePush {
  const { tenant } = host;
  const ask = async (request: PushRequest, signal: AbortSignal): Promise<RemoteResult> => {
    try {
      return await host.ask(request, signal);
    } catch (thrown) {
      throw isRefusal(thrown) ? notSupported(thrown) : thrown;
    }
  };
  const list = async (signal: AbortSignal): Promise<readonly PushConfig[]> => {
    const configs: PushConfig[] = [];
    for (let pageToken = ""; ; ) {
      const result = await ask(
        { operation: "push-list", tenant, taskId, ...(pageToken !== "" && { pageToken }) },
        signal,
      );
      if (result.kind !== "push-configs") throw unexpected(result);
      for (const config of result.configs) configs.push(config);
      if (configs.length > MAX_CONFIGS) throw endless();
      if (result.nextPageToken === "") return configs;
      // An agent that repeats a page token, or sends empty pages, would keep this loop running forever.
      if (result.nextPageToken === pageToken || result.configs.length === 0) throw endless();
      pageToken = result.nextPageToken;
    }
  };
  const get = async (id: string | undefined, signal: AbortSignal): Promise<PushConfig> => {
    const request = { operation: "push-get", tenant, taskId, ...(id !== undefined && { id }) } as const;
    return configOf(await ask(request, signal), taskId);
  };
  const latest = async (signal: AbortSignal): Promise<PushConfig> => {
    try {
      return await get(undefined, signal);
    } catch (thrown) {
      // Some versions have no request for the latest webhook.
      if (!(thrown instanceof RemoteError) || thrown.code !== "invalid-params") throw thrown;
      const last = (await list(signal)).at(-1);
      if (last === undefined) throw noConfig(taskId);
      return last;
    }
  };
  return {
    create: (config, options = {}) =>
      within(host, options, async (signal) => {
        const result = await ask({ operation: "push-create", tenant, taskId, config }, signal);
        // Some agents only confirm the request.
        return result.kind === "done" ? get(config.id, signal) : configOf(result, taskId);
      }),
    get: (id, options = {}) => within(host, options, (signal) => (id === undefined ? latest(signal) : get(id, signal))),
    list: (options = {}) => within(host, options, list),
    delete: (id, options = {}) =>
      within(host, options, async (signal) => {
        await ask({ operation: "push-delete", tenant, taskId, id }, signal);
      }),
  };
}

/** `done` as the answer to a read means that the task has no such webhook (0.1). */
function configOf(result: RemoteResult, taskId: string): PushConfig {
  if (result.kind === "push-config") return result.config;
  throw result.kind === "done" ? noConfig(taskId) : unexpected(result);
}

/** Whether the agent itself rejected the request. Without an HTTP status, this client rejected it because the version has no such call. */
function isRefusal(thrown: unknown): thrown is RemoteError {
  return (
    thrown instanceof RemoteError && thrown.code === "unsupported-operation" && thrown.remote.httpStatus !== undefined
  );
}

/** Some agents answer `unsupported-operation` instead of `push-not-supported`. */
function notSupported(error: RemoteError): RemoteError {
  const { message, remote, violations, taskId } = error;
  return new RemoteError("push-not-supported", message, {
    remote,
    violations,
    cause: error,
    ...(taskId !== undefined && { taskId }),
  });
}

function endless(): RemoteError {
  return new RemoteError(
    "invalid-agent-response",
    "The agent's list of webhooks never ends: it repeats a page or sends empty pages.",
  );
}

function noConfig(taskId: string): RemoteError {
  return new RemoteError("task-not-found", "The task has no such webhook.", { taskId });
}
