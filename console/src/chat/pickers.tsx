import type { AgentClient } from "palaver/client";
import type { JSX } from "preact";
import { href, INSPECTED } from "../app/place.ts";
import { navigate, setQuery } from "../app/route.ts";
import { operatorApi } from "../data/operator-api.ts";
import type { TaskRow } from "../data/operator-types.ts";
import { usePolled } from "../data/polled.ts";
import { taskTitle } from "../tasks/task-rows.tsx";

const BINDINGS: Readonly<Record<string, string>> = { JSONRPC: "JSON-RPC", "HTTP+JSON": "REST" };

/** Which version and binding is used; another one can be chosen. gRPC is not available in browsers. */
export function DialectPicker({
  client,
  value,
}: {
  readonly client: AgentClient | undefined;
  readonly value: string;
}): JSX.Element | null {
  if (client === undefined) return null;
  const { binding, protocolVersion } = client.interface;
  const ways = client.card.interfaces.filter((way) => way.binding in BINDINGS);
  const names = [...new Set(ways.map((way) => `${way.protocolVersion} ${way.binding}`))];
  return (
    <select
      class="quiet wide-only"
      aria-label="Version and binding"
      title="Version and binding. Another one starts a new conversation."
      value={value === "" ? `${protocolVersion} ${binding}` : value}
      onChange={(event) => setQuery({ dialect: event.currentTarget.value })}
    >
      {names.map((name) => {
        const [version = "", way = ""] = name.split(" ");
        return (
          <option key={name} value={name}>
            {version} over {BINDINGS[way] ?? way}
          </option>
        );
      })}
    </select>
  );
}

const MOST = 12;

/** Earlier conversations with the agent, by their first words. */
export function ConversationPicker({
  agent,
  contextId,
}: {
  readonly agent: string;
  readonly contextId: string;
}): JSX.Element | null {
  const { value } = usePolled({
    key: `conversations ${agent}`,
    every: 10_000,
    load: async (signal) =>
      INSPECTED === undefined ? operatorApi.tasks({ agent, limit: 100, text: "true" }, signal) : { tasks: [] },
  });
  const contexts = contextsOf(value?.tasks ?? []);
  if (contexts.length === 0) return null;
  return (
    <select
      class="quiet conversation wide-only"
      aria-label="Conversation"
      value={contextId}
      onChange={(event) => {
        const chosen = event.currentTarget.value;
        navigate(
          href(`agents/${encodeURIComponent(agent)}/chat${chosen === "" ? "" : `/${encodeURIComponent(chosen)}`}`),
        );
      }}
    >
      <option value="">New conversation</option>
      {contextId !== "" && !contexts.some((task) => task.contextId === contextId) && (
        <option value={contextId}>This conversation</option>
      )}
      {contexts.map((task) => (
        <option key={task.contextId} value={task.contextId}>
          {taskTitle(task).slice(0, 48)}
        </option>
      ))}
    </select>
  );
}

/** The oldest known task of each context, newest context first. */
function contextsOf(tasks: readonly TaskRow[]): readonly TaskRow[] {
  const first = new Map<string, TaskRow>();
  for (const task of tasks) first.set(task.contextId, task);
  return [...first.values()].slice(0, MOST);
}
