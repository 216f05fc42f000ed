import { foreignPeersSection } from "../foreign-peers/page-section.ts";
import { lackingIn, MARKS, type Matrix, type Table } from "./matrix.ts";

/** Where the page is kept, from the root of the repository. */
export const PAGE = "docs/compatibility.md";

/** The page that tells people what others can do with this server, and this client with theirs. */
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
    HOW,
  ];
  return `${sections.join("\n\n")}\n`;
}

const INTRODUCTION = `# Compatibility

Nothing here is claimed: each mark is what came of a test between Palaver and a library that others have written, as published.
[Clients of others against Palaver's server](#clients-of-others-against-palavers-server) comes first, then
[Palaver's client against official servers](#palavers-client-against-official-servers) and
[frameworks and user interfaces from npm](#frameworks-and-user-interfaces-from-npm).

## Clients of others against Palaver's server

In each test the client itself found the agent by its card, chose its way in, and did what the row says. Where it had to be told
that something cannot be, it was told in the client's own type of error, if it has one for it. How clients of each version find
their way in, and what older ones miss: [versions](guide/versions.md).`;

const SERVERS = `## Palaver's client against official servers

In each test \`connect\` was given no more than the address of a server made with the official library, and did what the row says.
All servers have the same agent behind them. Where a server refused, the client told it with the code that it has for that in
every version: [errors](reference/errors.md).`;

function keyOf(peer: string): string {
  return `✓ works · ✗ does not · – not in the ${peer} or its version of the protocol, whoever it talks to: see below`;
}

const HOW = `## How this page is made

\`npm run matrix\` runs the clients, the servers and the exchanges and prints what came of them; \`npm run matrix -- --write\`
writes it here. The same tests are part of \`npm test\`, and one more fails when this page is not what they would write. The
scenarios, the agents they talk to, and one adapter per client are in \`test/peers\`; those of the other direction, with one
adapter per server, in \`test/remote-peers\`; the exchanges in \`test/golden\`. The frameworks are in \`test/foreign-peers\`: their table
is what their tests expect, \`npm run matrix -- --write\` writes it as well, and \`npm run peers\` compares it with the real packages.`;

function table({ columns, groups }: Table): string {
  const head = columns.map(({ peer, binding }) => `${peer}<br>${binding}`);
  const spoken = columns.map(({ protocol }) => protocol);
  const lines = [
    row("", head),
    row(
      "---",
      columns.map(() => ":-:"),
    ),
    row("Version of the protocol", spoken),
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

No client of this version is published any more. In place of one stand exchanges that were written down from that version's own
definition, request and answer word for word, in \`test/golden/v0_1\`. Each is had with the server over real connections.`;

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
