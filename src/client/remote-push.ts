import type { TaskId } from "../protocol/ids.ts";
import type { PushConfig } from "../protocol/operation.ts";
import type { ClientRequest, RemoteResult } from "../wire/client/client-codec.ts";
import { type AgentHost, unexpected } from "./agent-host.ts";
import type { RemotePush } from "./api.ts";
import { RemoteError } from "./http/errors.ts";
import { within } from "./within.ts";

type PushRequest = Extract<ClientRequest, { operation: `push-${string}` }>;

/** More configurations of one task are not listed. */
const MAX_CONFIGS = 10_000;

/** The push notification configurations of one task. */
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
      // An agent that always names the same page, or a page without anything, would never come to an end.
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
      // Not every version can ask for the latest one.
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
        // Some say no more than that they have it.
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

function configOf(result: RemoteResult, taskId: string): PushConfig {
  if (result.kind === "push-config") return result.config;
  throw result.kind === "done" ? noConfig(taskId) : unexpected(result);
}

/** The agent itself says that it does not do this. That a version has no such call is said here, without asking it. */
function isRefusal(thrown: unknown): thrown is RemoteError {
  return (
    thrown instanceof RemoteError && thrown.code === "unsupported-operation" && thrown.remote.httpStatus !== undefined
  );
}

/** Some agents have one word for everything that they do not do. */
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
  return new RemoteError("invalid-agent-response", "The agent's list of push configurations does not go on.");
}

function noConfig(taskId: string): RemoteError {
  return new RemoteError("task-not-found", "The task has no such push configuration.", { taskId });
}
