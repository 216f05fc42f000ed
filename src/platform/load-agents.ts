import { existsSync } from "node:fs";
import { resolve } from "node:path";
import { pathToFileURL } from "node:url";
import type { Agent } from "../engine/agent.ts";
import { messageOf, StartupError, systemCode } from "./startup-error.ts";

/**
 * The agents that modules export. A default export may be an agent, a list of agents, or a function that gives either (or a
 * promise of it); named exports that are agents count too. In the order of the modules; each agent once.
 */
export async function loadAgents(modules: readonly string[]): Promise<readonly Agent[]> {
  const found = new Set<Agent>();
  for (const path of modules) for (const agent of await agentsOf(path)) found.add(agent);
  return [...found];
}

async function agentsOf(path: string): Promise<readonly Agent[]> {
  const exported = await importModule(path);
  const { default: main, ...named } = exported;
  const agents = [...collect(await callIfFunction(main, path)), ...Object.values(named).filter(isAgent)];
  if (agents.length > 0) return agents;
  const names = Object.keys(exported);
  throw new StartupError(
    "failed",
    `${path} exports no agent (${names.length === 0 ? "it exports nothing" : `it exports ${names.join(", ")}`}).\n` +
      "Export one: export default agent({ name, description, version, run })",
  );
}

async function importModule(path: string): Promise<Readonly<Record<string, unknown>>> {
  const file = resolve(path);
  if (!existsSync(file)) {
    throw new StartupError(
      "failed",
      `There is no module ${path} (looked for ${file}).\nGive the path of a file that exports an agent.`,
    );
  }
  try {
    const exported: unknown = await import(pathToFileURL(file).href);
    return exported as Readonly<Record<string, unknown>>; // A module's exports are an object by their nature.
  } catch (error) {
    throw new StartupError("failed", `${path} could not be loaded: ${reasonOf(error)}`, { cause: error });
  }
}

function reasonOf(error: unknown): string {
  switch (systemCode(error)) {
    case "ERR_MODULE_NOT_FOUND":
      return `${messageOf(error)}\nInstall what it imports, or correct the import.`;
    case "ERR_UNSUPPORTED_NODE_MODULES_TYPE_STRIPPING":
      return "Node does not run TypeScript under node_modules.\nServe a file of your own, or a built one.";
    case "ERR_UNKNOWN_FILE_EXTENSION":
    case "ERR_UNSUPPORTED_DIR_IMPORT":
      return `${messageOf(error)}\nGive the path of a .ts, .mts, .js or .mjs file.`;
    default:
      return `${messageOf(error)}\nIt threw while it was being loaded; run again with --verbose to see where.`;
  }
}

async function callIfFunction(value: unknown, path: string): Promise<unknown> {
  if (typeof value !== "function") return value;
  try {
    return await (value as () => unknown)();
  } catch (error) {
    throw new StartupError(
      "failed",
      `The default export of ${path} threw: ${messageOf(error)}\nRun again with --verbose to see where.`,
      { cause: error },
    );
  }
}

function collect(value: unknown): readonly Agent[] {
  if (Array.isArray(value)) return value.filter(isAgent);
  return isAgent(value) ? [value] : [];
}

/** Told by its shape: the module may have got `agent` from another copy of this package. */
function isAgent(value: unknown): value is Agent {
  if (typeof value !== "object" || value === null) return false;
  const hasText = (field: string) => typeof Reflect.get(value, field) === "string";
  const handles = ["run", "reply"].some((field) => typeof Reflect.get(value, field) === "function");
  return (
    ["id", "name", "description", "version"].every(hasText) && (handles || Array.isArray(Reflect.get(value, "skills")))
  );
}
