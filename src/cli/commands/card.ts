import type { Command } from "commander";
import { RemoteError } from "../../client/http/errors.ts";
import { CliError } from "../cli-error.ts";
import type { CliContext } from "../context.ts";
import { skillSchemas, skillTypes } from "../session/schema-types.ts";
import { runSession, type Session } from "../session/session.ts";
import { agentCommand, groupCommand } from "./agent.ts";

/** `palaver card get` and `palaver card types`. */
export function cardCommand(context: CliContext): Command {
  return groupCommand("card", "Read and validate agent cards.", [cardGetCommand(context), cardTypesCommand(context)]);
}

function cardGetCommand(context: CliContext): Command {
  const command = agentCommand("get", {
    description: "Show an agent card: name, skills, and how to call the agent.",
    own: [
      { flags: "--validate", description: "check the card against the specification and list every problem" },
      { flags: "--extended", description: "the extended card for authenticated callers" },
    ],
    examples: [
      ["palaver card get -a http://127.0.0.1:3000", "fetch the card from its well-known URL"],
      ["palaver card get -a agents.example.org -o json", "as JSON"],
      ["palaver card get -a ./card.json --validate", "check a card in a file"],
    ],
  });
  return command.action(() =>
    runSession(context, command.opts(), async (session) => {
      const { validate, extended }: { validate?: boolean; extended?: boolean } = command.opts();
      if (validate === true) await checkCard(session);
      // The public card needs no credentials.
      const agent = await session.connect({ anonymous: extended !== true });
      if (extended !== true) return session.output.card(agent.card, agent.interface);
      if (agent.card.capabilities.extendedAgentCard !== true) {
        throw new RemoteError("extended-card-not-configured", `The agent "${agent.card.name}" has no extended card.`);
      }
      await session.output.card(await agent.extendedCard({ signal: session.signal }), agent.interface);
    }),
  );
}

function cardTypesCommand(context: CliContext): Command {
  const command = agentCommand("types", {
    description: "Print TypeScript types of the data that the agent's skills accept.",
    examples: [
      ["palaver card types -a http://127.0.0.1:3000 > agent-skills.ts", "write the types to a file"],
      ["palaver card types -a ./card.json", "from a card in a file"],
    ],
  });
  return command.action(() =>
    runSession(context, command.opts(), async (session) => {
      const { card } = await session.connect({ anonymous: true });
      if (skillSchemas(card).size === 0)
        await session.warn("The card has no schemas, so the data of every skill is unknown.");
      await context.stdout.write(skillTypes(card));
    }),
  );
}

/** Lists all problems as warnings and fails with the first: exit code 1. */
async function checkCard(session: Session): Promise<void> {
  const { problems } = await session.readCard();
  const [first, ...others] = problems;
  if (first === undefined) return session.note("The card is valid.");
  for (const problem of problems) await session.warn(problem);
  throw new CliError(
    "A2ACLI_ERR_CARD_INVALID",
    others.length === 0
      ? `The card is not valid: ${first}`
      : `The card has ${problems.length} problems. First: ${first}`,
  );
}
