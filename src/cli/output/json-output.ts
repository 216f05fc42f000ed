import { isInterrupted, isTerminal } from "../../protocol/state.ts";
import { officialJson } from "../../wire/official-json.ts";
import type { Sink } from "../context.ts";
import type { Output } from "./output.ts";

/**
 * Writes the protocol's own types: one indented document, or with `stream` one line per object. An error is an object
 * `{ "error": … }`; in a stream it is the last line.
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
      // An artifact event does not end a stream: the final status follows.
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
