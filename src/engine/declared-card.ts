import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import type { AgentCapabilities, AgentProvider, AgentSkill } from "../protocol/card.ts";
import type { AgentDefinition } from "./agent.ts";

/** What an agent card says that an agent may declare. Where and how it is served is the server's to say, and left out. */
export interface DeclaredCard {
  readonly name?: string;
  readonly description?: string;
  readonly version?: string;
  readonly provider?: AgentProvider;
  readonly iconUrl?: string;
  readonly documentationUrl?: string;
  readonly defaultInputModes?: readonly string[];
  readonly defaultOutputModes?: readonly string[];
  readonly capabilities?: Pick<AgentCapabilities, "streaming" | "extensions">;
  readonly skills?: readonly AgentSkill[];
}

/** What the card declares, in the words of a definition. Throws a `TypeError` that says what is wrong with the file. */
export function declaredBy(card: string | URL | DeclaredCard): Partial<AgentDefinition> {
  const declared = typeof card === "string" || card instanceof URL ? readCard(card) : card;
  const { name, description, version, provider, iconUrl, documentationUrl, capabilities, skills } = declared;
  return {
    ...(name !== undefined && { name }),
    ...(description !== undefined && { description }),
    ...(version !== undefined && { version }),
    ...(provider !== undefined && { provider }),
    ...(iconUrl !== undefined && { iconUrl }),
    ...(documentationUrl !== undefined && { documentationUrl }),
    ...(declared.defaultInputModes !== undefined && { inputModes: declared.defaultInputModes }),
    ...(declared.defaultOutputModes !== undefined && { outputModes: declared.defaultOutputModes }),
    ...(capabilities?.streaming !== undefined && { capabilities: { streaming: capabilities.streaming } }),
    ...(capabilities?.extensions !== undefined && { extensions: capabilities.extensions }),
    ...(skills !== undefined && { skills }),
  };
}

function readCard(file: string | URL): DeclaredCard {
  const path = file instanceof URL ? fileURLToPath(file) : file;
  let text: string;
  try {
    text = readFileSync(path, "utf8");
  } catch (cause) {
    throw new TypeError(
      `agent(): the card ${path} cannot be read. Give a path that exists from here, or a file: URL.`,
      {
        cause,
      },
    );
  }
  try {
    const card: unknown = JSON.parse(text);
    if (typeof card === "object" && card !== null && !Array.isArray(card)) return card;
  } catch (cause) {
    throw new TypeError(`agent(): the card ${path} is not JSON.`, { cause });
  }
  throw new TypeError(`agent(): the card ${path} is not a JSON object.`);
}
