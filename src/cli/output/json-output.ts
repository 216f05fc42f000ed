import { isInterrupted, isTerminal } from "../../protocol/state.ts";
import { officialJson } from "../../wire/official-json.ts";
import type { Sink } from "../context.ts";
import type { Output } from "./output.ts";

/**
 * The protocol's own types: one document, or one line for each as it happens. An error is an object of its own, the last one
 * of a stream that it ends.
 */
export function createJsonOutput(stdout: Sink, { stream }: { readonly stream: boolean }): Output {
  const write = (json: string): Promise<void> =>
    stdout.write(stream ? `${json}\n` : `${JSON.stringify(JSON.parse(json), null, 2)}\n`);
  let hasEnded = false;
  return {
    card: (card) => write(officialJson.card(card)),
    sent: (sent) => write(officialJson.sent(sent)),
    task: (task) => write(officialJson.task(task)),
    event: (event) => {
      const state = event.kind === "message" ? undefined : event.task.status.state;
      // What follows an artifact may still be its task's end.
      hasEnded = state === undefined || (event.kind !== "artifact" && (isTerminal(state) || isInterrupted(state)));
      return write(officialJson.event(event));
    },
    async streamEnd(task) {
      if (!hasEnded && task !== undefined) await write(officialJson.event({ kind: "task", task }));
    },
    async tasks(page) {
      if (!stream) return write(officialJson.tasks(page));
      for (const task of page.tasks) await write(officialJson.task(task));
    },
    pushConfig: (taskId, config) => write(officialJson.pushConfig(taskId, config)),
    pushConfigs: (taskId, configs) => write(officialJson.pushConfigs(taskId, configs)),
    own: ({ json }) => write(JSON.stringify(json)),
    failure: ({ code, message, hint, a2aCode }) => write(JSON.stringify({ error: { code, message, hint, a2aCode } })),
  };
}
