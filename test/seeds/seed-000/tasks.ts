import { post, streamed } from "../exchange.ts";
import { resultOf, rpcRequest } from "../rpc.ts";

/** States version 0.1, for methods that later versions have too. */
export const IN_0_1: Readonly<Record<string, string>> = { "a2a-version": "0.1" };

/** Parameters of a send: the caller chooses the task id and the session id. */
export function taskParams(id: string, text: string, more: object = {}): object {
  return { id, sessionId: "session-1", message: { role: "user", parts: [{ type: "text", text }] }, ...more };
}

/** Sends a message and returns the task of the response. */
export async function sendTask(url: string, params: object): Promise<unknown> {
  return resultOf(await post(url, rpcRequest(1, "tasks/send", params)), 1);
}

export async function getTask(url: string, id: string, more: object = {}): Promise<unknown> {
  return resultOf(await post(url, rpcRequest(2, "tasks/get", { id, ...more }), IN_0_1), 2);
}

/** Waits until the task has ended, and returns it. */
export async function endedTask(url: string, id: string): Promise<unknown> {
  await streamed(url, rpcRequest(3, "tasks/resubscribe", { id }), IN_0_1);
  return getTask(url, id);
}
