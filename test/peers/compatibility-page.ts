import { foreignPeersSection } from "../foreign-peers/page-section.ts";
import { lackingIn, MARKS, type Matrix, type Table } from "./matrix.ts";

/** Path of the page, relative to the root of the repository. */
export const PAGE = "docs/compatibility.md";

/** The page about other clients with this server, and this client with other servers. */
export function compatibilityPage({ clients, servers, golden }: Matrix): string {
  const sections = [
    INTRODUCTION,
    table(clients),
    keyOf("client"),
    "### What clients lack themselves",
    lacking(clients),
    exchangesOf(golden),
    SERVERS,
    table(servers),
    keyOf("server"),
    "### What servers lack themselves",
    lacking(servers),
    foreignPeersSection(),
    MCP,
    HOW,
  ];
  return `${sections.join("\n\n")}\n`;
}

const INTRODUCTION = `# Compatibility

Each mark is the result of a test between Palaver and a published library of another project. Three parts:
[clients of others against Palaver's server](#clients-of-others-against-palavers-server),
[Palaver's client against official servers](#palavers-client-against-official-servers) and
[frameworks and user interfaces from npm](#frameworks-and-user-interfaces-from-npm).

## Clients of others against Palaver's server

In each test the client finds the agent by its card, selects an interface, and performs the operation of the row. An expected
error must arrive as the client's own error type, if the client has one. How clients of each version find their interface, and
which features older versions lack: [versions](guide/versions.md).`;

const SERVERS = `## Palaver's client against official servers

In each test \`connect\` gets only the address of a server built with the official library, and performs the operation of the
row. All servers run the same agent. The client reports a refusal with the same error code for every version:
[errors](reference/errors.md).`;

function keyOf(peer: string): string {
  return `✓ works · ✗ fails · – the ${peer} or its version of the protocol does not have it: see below`;
}

const MCP = `## MCP and ACP

Tested with the real packages, in \`npm test\` unless the last column names a script.

| With | Version | What | Tests |
|---|---|---|---|
| MCP client of 2026-07-28, \`@modelcontextprotocol/client\` | 2.x | calls agents at \`/mcp\` and by \`palaver mcp\`: questions, progress, files, restarts | \`test/mcp\` |
| MCP client of 2025, \`@modelcontextprotocol/sdk\` | 1.x | the same; questions on the stream of the call, or as text | \`test/mcp\` |
| client of the tasks extension, \`@modelcontextprotocol/ext-tasks\` | 0.2 | tasks, answers, notifications | \`test/mcp/task-notifications.test.ts\` |
| conformance kit, \`@modelcontextprotocol/conformance\` | 0.2.0-alpha | all server scenarios of 2026-07-28 and 2025-11-25, and of the tasks extension, also with \`kill -9\` between polls | \`npm run mcp-conformance\` |
| MCP servers of 2026-07-28 and 2025, written with the official SDKs | 2.x, 1.x | behind \`mcpAgent\`, called by the official A2A clients of 0.3 and 1.0 | \`test/adapters/mcp-official-clients.test.ts\` |
| ACP agents, written with \`@agentclientprotocol/sdk\` | 2.x | behind \`acpAgent\` | \`src/adapters/acp\` |

Checks of the conformance kit that fail are those of features that agents do not have: prompts, resources, completion, sampling, roots and logging, and of streams of 2025 that can be resumed (\`test/mcp/baseline.ts\`). \`npm run mcp-conformance\` fails if another check fails, and if a listed one passes.

A question of an MCP server of 2025 belongs to an open connection. If this server is restarted before the answer, the task fails with \`mcp-call-cut-off\`.`;

const HOW = `## How this page is made

\`npm run matrix\` runs the clients, the servers and the exchanges and prints the results; \`npm run matrix -- --write\` writes
them to this page. \`npm test\` runs the same tests, and fails if this page does not match them. The client scenarios, their
agents, and one adapter per client are in \`test/peers\`; the server scenarios, with one adapter per server, in
\`test/remote-peers\`; the exchanges in \`test/golden\`. The frameworks are in \`test/foreign-peers\`: their table shows the results
that their tests expect, \`npm run matrix -- --write\` writes it too, and \`npm run peers\` compares it with the real packages.`;

function table({ columns, groups }: Table): string {
  const head = columns.map(({ peer, binding }) => `${peer}<br>${binding}`);
  const protocols = columns.map(({ protocol }) => protocol);
  const lines = [
    row("", head),
    row(
      "---",
      columns.map(() => ":-:"),
    ),
    row("Version of the protocol", protocols),
  ];
  for (const { title, rows } of groups) {
    lines.push(
      row(
        `**${title}**`,
        columns.map(() => ""),
      ),
    );
    for (const { operation, cells } of rows)
      lines.push(
        row(
          operation,
          cells.map(({ outcome }) => MARKS[outcome]),
        ),
      );
  }
  return lines.join("\n");
}

const GOLDEN = `### Version 0.1

No client of this version is published any more. Instead, \`test/golden/v0_1\` contains exact requests and responses, written
from the definition of that version. A test sends each request to the server over a real connection.`;

function exchangesOf(chapters: Matrix["golden"]): string {
  const lines = [row("", [""]), row("---", [":-:"])];
  for (const { title, exchanges } of chapters) {
    lines.push(row(`**${title}**`, [""]));
    for (const { name, cell } of exchanges) lines.push(row(name, [MARKS[cell.outcome]]));
  }
  return [GOLDEN, "", ...lines].join("\n");
}

function row(first: string, others: readonly string[]): string {
  return `| ${[first, ...others].join(" | ")} |`;
}

function lacking(shown: Table): string {
  const lines: string[] = [];
  for (const peer of new Set(shown.columns.map((column) => column.peer))) {
    const lacks = lackingIn(shown).filter((lack) => lack.peer === peer);
    if (lacks.length > 0) lines.push(`**${peer}**`, "");
    for (const { reason, operations } of lacks) {
      const places = new Set([...operations.values()].map((bindings) => bindings.join(" and ")));
      lines.push(
        `- ${[...operations.keys()].map((name) => `*${name}*`).join(", ")} (${[...places].join("; ")}): ${reason}.`,
      );
    }
    if (lacks.length > 0) lines.push("");
  }
  return lines.join("\n").trimEnd();
}
