import { lackingIn, MARKS, type Matrix } from "./matrix.ts";

/** Where the page is kept, from the root of the repository. */
export const PAGE = "docs/compatibility.md";

/** The page that tells people what clients can do with this server. */
export function compatibilityPage(matrix: Matrix): string {
  return `${[INTRODUCTION, table(matrix), KEY, lacking(matrix), golden(matrix), HOW].join("\n\n")}\n`;
}

const INTRODUCTION = `# Compatibility

What clients that others have written can do with agents served by Palaver. Nothing here is claimed: each mark is what came of a
test in which the client itself, as published, found the agent by its card, chose its way in, and did what the row says. Where it
had to be told that something cannot be, it was told in the client's own type of error, if it has one for it. How clients of
each version find their way in, and what older ones miss: [versions](guide/versions.md).`;

const KEY = "✓ works · ✗ does not · – not in the client or its version of the protocol, whoever it talks to: see below";

const HOW = `## How this page is made

\`npm run matrix\` runs the clients and the exchanges and prints what came of them; \`npm run matrix -- --write\` writes it here.
The same tests are part of \`npm test\`, and one more fails when this page is not what they would write. The scenarios, the
agents they talk to, and one adapter per client are in \`test/peers\`, the exchanges in \`test/golden\`.`;

function table({ columns, groups }: Matrix): string {
  const head = columns.map(({ client, binding }) => `${client}<br>${binding}`);
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

const GOLDEN = `## Version 0.1

No client of this version is published any more. In place of one stand exchanges that were written down from that version's own
definition, request and answer word for word, in \`test/golden/v0_1\`. Each is had with the server over real connections.`;

function golden({ golden: chapters }: Matrix): string {
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

function lacking(matrix: Matrix): string {
  const lines = ["## What clients lack themselves", ""];
  for (const client of new Set(matrix.columns.map((column) => column.client))) {
    const lacks = lackingIn(matrix).filter((lack) => lack.client === client);
    if (lacks.length > 0) lines.push(`**${client}**`, "");
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
