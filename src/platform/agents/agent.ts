import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { type Agent, type AgentDefinition, agent as declareAgent, type Handler } from "../../engine/agent/agent.ts";
import { type DeclaredCard, declaredMembers } from "../../wire/card/declared-card.ts";

/** A definition based on an agent card: the path or `file:` URL of a JSON file, or the card itself. Members of the definition replace those of the card. */
export type CardDefinition<Produced = unknown> = Omit<AgentDefinition<Produced>, "name" | "description" | "version"> &
  Partial<Pick<AgentDefinition, "name" | "description" | "version">> & { readonly card: string | URL | DeclaredCard };

/** Declares an agent. Throws a `TypeError` that lists all problems of the declaration and how to fix them. */
export function agent<Produced>(definition: CardDefinition<Produced> & Handler): Agent;
export function agent<Produced>(definition: AgentDefinition<Produced> & Handler): Agent;
export function agent(declaration: Handler): Agent {
  // Safe casts: the overloads above accept nothing else, and `declareAgent` reports members that are still missing.
  if (!("card" in declaration)) return declareAgent(declaration as AgentDefinition & Handler);
  const { card, ...own } = declaration as unknown as CardDefinition;
  const { members, promises } = declaredMembers(
    typeof card === "string" || card instanceof URL ? readCard(card) : card,
  );
  const capabilities = { ...(members["capabilities"] as object | undefined), ...own.capabilities };
  return declareAgent({ ...members, ...own, capabilities, promises } as unknown as AgentDefinition & Handler);
}

function readCard(file: string | URL): DeclaredCard {
  const path = file instanceof URL ? fileURLToPath(file) : file;
  let text: string;
  try {
    text = readFileSync(path, "utf8");
  } catch (cause) {
    throw new TypeError(
      `agent(): the card ${path} cannot be read. Pass an existing path (relative to the working directory) or a file: URL.`,
      { cause },
    );
  }
  let card: unknown;
  try {
    card = JSON.parse(text);
  } catch (cause) {
    throw new TypeError(`agent(): the card ${path} is not JSON.`, { cause });
  }
  if (typeof card === "object" && card !== null && !Array.isArray(card)) return card;
  throw new TypeError(`agent(): the card ${path} is not a JSON object.`);
}
