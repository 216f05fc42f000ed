import type { Caller, CallerOptions, DialectClient, Outcome, SendOptions } from "../dialect-client.ts";
import type { Fields, Sent, Task } from "../neutral.ts";
import { wrong } from "../strict.ts";
import { readNothing, writeWebhook } from "./push-shapes.ts";
import { headersOf } from "./rest-client.ts";
import { createRpcClient, type RpcRequest } from "./rpc-client.ts";
import { REDUCTION_0_1 } from "./v0-1-reduction.ts";
import {
  joinOpening,
  RULES_0_1,
  readError,
  readEvent,
  readOwner,
  readPushed,
  readTask,
  sendParams,
} from "./v0-1-shapes.ts";
import { readUnionEvent, readUnionTask } from "./v0-1-union.ts";

/**
 * JSON-RPC 0.1. It states its version only for methods that later versions have too; with `version: null` it expects
 * the members of both versions from those.
 */
export const jsonRpc0_1: DialectClient = {
  dialect: "0.1/jsonrpc",
  version: "0.1",
  binding: "jsonrpc",
  rules: RULES_0_1,
  reduction: REDUCTION_0_1,
  readPushed,
  at: callerAt,
};

function callerAt(address: string, callerOptions: CallerOptions = {}): Caller {
  const client = createRpcClient({
    url: `${address}/a2a`,
    headers: headersOf(callerOptions, undefined, RULES_0_1.extensionsHeader),
    callerOptions,
    eventErrors: ["tasks/sendSubscribe", "tasks/resubscribe"],
    joinOpening,
    readError,
  });
  const own = (method: string, params: Fields, after?: string): RpcRequest => ({
    method,
    params,
    ...(after !== undefined && { headers: { "last-event-id": after } }),
  });
  /** Only the header distinguishes these methods from a later version's. */
  const shared = (method: string, params: Fields, after?: string): RpcRequest => {
    const request = own(method, params, after);
    if (callerOptions.version !== undefined) return request;
    return { ...request, headers: { ...request.headers, "a2a-version": "0.1" } };
  };
  const [readOne, readNews] = callerOptions.version === null ? [readUnionTask, readUnionEvent] : [readTask, readEvent];
  const get = (id: string, history?: number): Promise<Outcome<Task>> =>
    client.call(shared("tasks/get", { id, ...(history !== undefined && { historyLength: history }) }), (value) =>
      readOne(value),
    );
  const open = (params: Fields, after?: string) => client.open(own("tasks/sendSubscribe", params, after), readEvent);
  /** A send cannot request not to wait. A stream can be closed as soon as it has started. */
  const begin = async (params: ReturnType<typeof sendParams>, { history }: SendOptions): Promise<Outcome<Sent>> => {
    const begun = await open(params);
    if (!begun.ok) return begun;
    await begun.value.next();
    await begun.value.close();
    return sent(await get(params.id, history));
  };
  const missing = (what: string) => (): Promise<never> => Promise.reject(new Error(`0.1 has no ${what}.`));
  return {
    send(messageInput, options = {}) {
      const params = sendParams(messageInput, options);
      if (options.wait === false) return begin(params, options);
      return client.call(own("tasks/send", params, options.after), (value) => ({
        kind: "task",
        task: readTask(value),
      }));
    },
    stream: (messageInput, options) => open(sendParams(messageInput, options), options?.after),
    get,
    list: missing("list"),
    cancel: (id, metadata) =>
      client.call(shared("tasks/cancel", { id, ...(metadata !== undefined && { metadata }) }), (value) =>
        readOne(value),
      ),
    subscribe: (id, after) => client.open(shared("tasks/resubscribe", { id }, after), readNews),
    extendedCard: missing("extended card"),
    pushCreate: (id, webhook) =>
      client.call(
        own("tasks/pushNotification/set", { id, pushNotificationConfig: writeWebhook(webhook) }),
        (value) => readOwner(value, id) ?? wrong("A webhook", "was not kept", value),
      ),
    pushGet: (id) => client.call(own("tasks/pushNotification/get", { id }), (value) => readOwner(value, id)),
    pushList: missing("list of webhooks"),
    /** 0.1 has no delete method; setting nothing deletes. */
    pushDelete: (id) =>
      client.call(own("tasks/pushNotification/set", { id, pushNotificationConfig: null }), readNothing),
  };
}

function sent(outcome: Outcome<Task>): Outcome<Sent> {
  return outcome.ok ? { ...outcome, value: { kind: "task", task: outcome.value } } : outcome;
}
