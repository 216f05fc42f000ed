import type { JSX } from "preact";
import { announce } from "../app/announce.tsx";
import { agentUrl } from "../app/place.ts";
import type { TaskRow } from "../data/operator-types.ts";

/** How a task can be read elsewhere. The credential of the caller is a variable. */
export function copiesOf({ agent, id }: TaskRow): Readonly<Record<string, string>> {
  const url = agentUrl(agent);
  const body = JSON.stringify({ jsonrpc: "2.0", id: 1, method: "GetTask", params: { id } });
  return {
    curl: `curl -s ${url} \\\n  -H 'content-type: application/json' -H 'A2A-Version: 1.0' \\\n  -d '${body.replaceAll("'", String.raw`'\''`)}'`,
    CLI: `palaver task get ${id} -a ${url}`,
    TypeScript: `import { connect } from "palaver/client";\n\nconst agent = await connect(${JSON.stringify(url)});\nconsole.log(await agent.task(${JSON.stringify(id)}).get());\n`,
    "the id": id,
  };
}

/** Copies the call that reads the task. */
export function CopyTask({ task }: { readonly task: TaskRow }): JSX.Element {
  return (
    <select
      class="button wide-only"
      aria-label="Copy as"
      value=""
      onChange={(event) => {
        const text = copiesOf(task)[event.currentTarget.value];
        event.currentTarget.value = "";
        if (text !== undefined) void navigator.clipboard.writeText(text).then(() => announce("Copied"));
      }}
    >
      <option value="" disabled hidden>
        Copy as
      </option>
      {Object.keys(copiesOf(task)).map((name) => (
        <option key={name} value={name}>
          {name}
        </option>
      ))}
    </select>
  );
}
