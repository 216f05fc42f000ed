import { AWAITED } from "./awaited.ts";
import { CLIENTS } from "./clients.ts";
import { CLIENT_SCENARIOS, type Expectation, type Package, SERVER_SCENARIOS } from "./peer.ts";
import { SERVERS } from "./servers.ts";

/**
 * The section about frameworks of the compatibility page: the expected results, which the tests and `npm run peers`
 * check.
 */
export function foreignPeersSection(): string {
  return [
    `## Frameworks and user interfaces from npm

These packages have their own A2A code, or their own code on top of the official library. \`npm test\` runs scripts that send and
read the same as each package; \`npm run peers\` installs the real packages in these versions and runs the same scenarios.

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

const KEY = "✓ works · ✗ fails · – cannot work because of the other library: see below";

const NOTES = `\`list of tasks\` works if the client gets a list or the error \`unsupported-operation\`: versions before 1.0 have no lists.
\`failed task\` works if the caller gets a failed task or an error, with the agent's reason. The server of gemini-cli runs with a local
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
