import type { Agent } from "../engine/agent.ts";
import type { Security } from "../server/security.ts";
import { unwiredDeclarations } from "../server/unwired.ts";
import { createDialects } from "../wire/dialects.ts";
import type { DialectOptions } from "../wire/options.ts";
import { StartupError } from "./startup-error.ts";

export interface DeclarationContext {
  readonly dialects: DialectOptions;
  /** The server finds out who calls. */
  readonly authenticates: boolean;
  readonly security?: Security | undefined;
  /** The server notifies who wants to be notified. Default true. */
  readonly pushes?: boolean | undefined;
}

/** Throws a {@link StartupError} that lists everything the agents declare and this server would not keep. */
export function checkDeclarations(agents: readonly Agent[], context: DeclarationContext): void {
  const { dialects, authenticates, security, pushes } = context;
  const { interfaces } = createDialects(dialects);
  const wiring = { interfaces: interfaces(""), authenticates, schemes: security?.schemes, pushes };
  const problems = agents.flatMap((agent) =>
    unwiredDeclarations(agent, wiring).map(
      ({ field, problem }) => `Agent ${JSON.stringify(agent.id)} declares ${field}, but ${problem}`,
    ),
  );
  if (problems.length > 0) throw new StartupError("usage", problems.join("\n"));
}
