import { post, streamed } from "../exchange.ts";
import { resultOf, rpcRequest } from "../rpc.ts";

/** Says that the caller speaks 0.1, where the method's name does not. */
export const IN_0_1: Readonly<Record<string, string>> = { "a2a-version": "0.1" };

/** Parameters of a send: the task and the session are named by the caller. */
export function taskParams(id: string, text: string, more: object = {}): object {
  return { id, sessionId: "session-1", message: { role: "user", parts: [{ type: "text", text }] }, ...more };
}

/** Sends, and gives the task as it was then. */
export async function sendTask(url: string, params: object): Promise<unknown> {
  return resultOf(await post(url, rpcRequest(1, "tasks/send", params)), 1);
}

export async function getTask(url: string, id: string, more: object = {}): Promise<unknown> {
  return resultOf(await post(url, rpcRequest(2, "tasks/get", { id, ...more }), IN_0_1), 2);
}

/** Waits until there is nothing more to hear of the task, and gives it as it is then. */
export async function endedTask(url: string, id: string): Promise<unknown> {
  await streamed(url, rpcRequest(3, "tasks/resubscribe", { id }), IN_0_1);
  return getTask(url, id);
}
