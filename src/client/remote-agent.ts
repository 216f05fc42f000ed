import { seqOfGeneration } from "../protocol/generation.ts";
import type { TaskId } from "../protocol/ids.ts";
import { type AgentHost, unexpected } from "./agent-host.ts";
import type { AgentClient, RemoteTask } from "./api.ts";
import { listTasks, taskPage } from "./list-tasks.ts";
import { checkedGeneration } from "./message-input.ts";
import { createRemotePush } from "./remote-push.ts";
import { sendMessage, settledTask } from "./send-message.ts";
import { streamMessage, streamTask } from "./stream-message.ts";
import { within } from "./within.ts";

/** The public object of `connect`. `host` holds everything that changes: the card, the interface in use, and whether the agent streams. */
export function createRemoteAgent(host: AgentHost): AgentClient {
  return {
    get card() {
      return host.card;
    },
    get interface() {
      return host.channel.at;
    },
    get resendWindow() {
      return host.resendWindow;
    },
    send: (input, options = {}) => sendMessage(host, input, options),
    stream: (input, options = {}) => streamMessage(host, input, options),
    task: (id) => createRemoteTask(host, id),
    tasks: (filter = {}) => listTasks(host, filter),
    taskPage: (filter = {}) => taskPage(host, filter),
    extendedCard: (options = {}) =>
      within(host, options, async (signal) => {
        const result = await host.ask({ operation: "extended-card", tenant: host.tenant }, signal);
        if (result.kind !== "card") throw unexpected(result);
        host.replaceCard(result.card);
        return result.card;
      }),
  };
}

/** Makes no request: an unknown id is noticed by the first call. */
function createRemoteTask(host: AgentHost, name: string): RemoteTask {
  // Safe: ids are branded where they enter.
  const id = name as TaskId;
  const named = (): string => id;
  return {
    id,
    get: (options = {}) => {
      const { historyLength, waitForChange } = options;
      // Waiting is no reason to give up.
      const timeout = waitForChange === undefined ? {} : { timeout: Number.POSITIVE_INFINITY };
      return within(host, { ...timeout, ...options, taskId: named }, async (signal) => {
        const request = { operation: "get", tenant: host.tenant, id, history: historyLength } as const;
        if (waitForChange === undefined) return host.read(request, signal);
        const waitAfterSeq = seqOfGeneration(checkedGeneration(waitForChange, "waitForChange"));
        return host.read({ ...request, waitAfterSeq }, signal);
      });
    },
    wait: (options = {}) =>
      within(host, { timeout: Number.POSITIVE_INFINITY, ...options, taskId: named }, (signal) =>
        settledTask(host, id, { signal }),
      ),
    cancel: (options = {}) =>
      within(host, { ...options, taskId: named }, async (signal) => {
        const { metadata = {} } = options;
        const result = await host.ask({ operation: "cancel", tenant: host.tenant, id, metadata }, signal);
        if (result.kind === "task") return result.task;
        throw unexpected(result);
      }),
    subscribe: (options = {}) => streamTask(host, id, options),
    reply: (input, options = {}) => sendMessage(host, input, { ...options, taskId: id }),
    push: createRemotePush(host, id),
  };
}
