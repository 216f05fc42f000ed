import { AWAITED } from "./awaited.ts";
import { CLIENTS } from "./clients.ts";
import { CLIENT_SCENARIOS, type Expectation, type Package, SERVER_SCENARIOS } from "./peer.ts";
import { SERVERS } from "./servers.ts";

/** The part of the compatibility page about frameworks: what is expected, and what the tests and `npm run peers` compare with. */
export function foreignPeersSection(): string {
  return [
    `## Frameworks and user interfaces from npm

These packages have A2A code of their own, or code of their own on top of the official library. \`npm test\` runs scripts of what each
of them sends and reads; \`npm run peers\` installs the packages themselves, in these versions, and runs the same scenarios with them.

### Their clients against Palaver's server`,
    table("client", CLIENTS, CLIENT_SCENARIOS),
    KEY,
    reasons(CLIENTS, CLIENT_SCENARIOS),
    "### Palaver's client against their servers",
    table("server", SERVERS, SERVER_SCENARIOS),
    KEY,
    reasons(SERVERS, SERVER_SCENARIOS),
    NOTES,
  ].join("\n\n");
}

const KEY = "✓ works · ✗ does not · – cannot work, for a reason on the other side: see below";

const NOTES = `\`list of tasks\` works where a list comes, and where the error is \`unsupported-operation\`: versions before 1.0 have no lists.
\`failed task\` works where the caller gets a failed task or an error, with the agent's reason. The server of gemini-cli is run with a local
stand-in for the model; the others have a scripted model or agent.`;

interface Peer<Scenario extends string> extends Package {
  readonly expected: Readonly<Record<Scenario, Expectation>>;
}

function table<Scenario extends string>(
  side: "client" | "server",
  peers: readonly Peer<Scenario>[],
  scenarios: readonly Scenario[],
): string {
  const row = (first: string, cells: readonly string[]) => `| ${[first, ...cells].join(" | ")} |`;
  const mark = ({ name, expected }: Peer<Scenario>, scenario: Scenario): string => {
    if (AWAITED.has(`${name} ${side}: ${scenario}`)) return "✗";
    return expected[scenario] === "works" ? "✓" : "–";
  };
  return [
    row(
      "",
      peers.map(({ name, package: source, version }) => `${name}<br>${source}<br>${version}`),
    ),
    row(
      "---",
      peers.map(() => ":-:"),
    ),
    row(
      "Version of the protocol",
      peers.map(({ protocol }) => protocol),
    ),
    ...scenarios.map((scenario) =>
      row(
        scenario,
        peers.map((peer) => mark(peer, scenario)),
      ),
    ),
  ].join("\n");
}

function reasons<Scenario extends string>(peers: readonly Peer<Scenario>[], scenarios: readonly Scenario[]): string {
  const lines: string[] = [];
  for (const { name, expected } of peers) {
    const byReason = new Map<string, Scenario[]>();
    for (const scenario of scenarios) {
      const cell = expected[scenario];
      if (cell !== "works") byReason.set(cell.cannot, [...(byReason.get(cell.cannot) ?? []), scenario]);
    }
    for (const [reason, found] of byReason) {
      lines.push(`- **${name}**, ${found.map((scenario) => `*${scenario}*`).join(", ")}: ${reason}.`);
    }
  }
  return lines.join("\n");
}
