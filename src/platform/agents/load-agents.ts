import { existsSync, readFileSync } from "node:fs";
import { resolve } from "node:path";
import { pathToFileURL } from "node:url";
import type { Agent } from "../../engine/agent/agent.ts";
import { messageOf, StartupError } from "../startup-error.ts";
import { allowEsmInCommonjs } from "./esm-in-commonjs.ts";
import { describeLoadFailure, placeOf } from "./load-failure.ts";

/** Comments on lines of their own: they may name agents in any order. */
const COMMENT = /^[ \t]*(?:\/\/.*|\/\*[\s\S]*?\*\/)/gm;

/**
 * The agents that modules export. A default export may be an agent, a list of agents, or a function that returns either (or a promise of it); named exports
 * that are agents count too. Order: by module, then the default export, then the named exports in the order of the file. Each agent appears once.
 */
export async function loadAgents(modules: readonly string[]): Promise<readonly Agent[]> {
  const found = new Set<Agent>();
  for (const path of modules) for (const agent of await agentsOf(path)) found.add(agent);
  return [...found];
}

/** Throws a {@link StartupError} if the module cannot be loaded or exports no agent. */
async function agentsOf(path: string): Promise<readonly Agent[]> {
  const exported = await importModule(path);
  const { default: main, ...named } = exported;
  const agents = [...collect(await callIfFunction(main, path)), ...inSourceOrder(named, path)];
  if (agents.length > 0) return agents;
  const names = Object.keys(exported);
  throw new StartupError(
    "failed",
    `${path} exports no agent (${names.length === 0 ? "it exports nothing" : `it exports ${names.join(", ")}`}).\n` +
      "Export one: export default agent({ name, description, version, run })",
  );
}

/** Relative to the working directory. Throws a {@link StartupError} with the position of the problem. */
async function importModule(path: string): Promise<Readonly<Record<string, unknown>>> {
  const file = resolve(path);
  if (!existsSync(file)) {
    throw new StartupError(
      "failed",
      `There is no module ${path} (looked for ${file}).\nPass the path of a file that exports an agent.`,
    );
  }
  allowEsmInCommonjs();
  try {
    const exported: unknown = await import(pathToFileURL(file).href);
    return exported as Readonly<Record<string, unknown>>; // Safe: a module namespace is an object.
  } catch (error) {
    throw new StartupError("failed", `${path} could not be loaded: ${describeLoadFailure(error, file)}`, {
      cause: error,
    });
  }
}

/** A function may read configuration or connect to other agents first, so it is awaited. */
async function callIfFunction(value: unknown, path: string): Promise<unknown> {
  if (typeof value !== "function") return value;
  try {
    return await (value as () => unknown)();
  } catch (error) {
    throw new StartupError(
      "failed",
      `The default export of ${path} threw${at(placeOf(error, path))}: ${messageOf(error)}\n--verbose shows the whole stack.`,
      { cause: error },
    );
  }
}

/** The agents among the named exports, in the order of the file. A module namespace lists its exports alphabetically. */
function inSourceOrder(named: Readonly<Record<string, unknown>>, path: string): readonly Agent[] {
  const source = readFileSync(path, "utf8").replaceAll(COMMENT, "");
  const position = (name: string): number => {
    const found = source.search(new RegExp(`(?<![\\w$])${name.replaceAll("$", "\\$")}(?![\\w$])`));
    return found === -1 ? source.length : found; // Exported by `export * from`: after the file's own.
  };
  return Object.entries(named)
    .filter((entry): entry is [string, Agent] => isAgent(entry[1]))
    .toSorted(([a], [b]) => position(a) - position(b))
    .map(([, agent]) => agent);
}

function at(place: string | undefined): string {
  return place === undefined ? "" : ` at ${place}`;
}

/** Items of a list that are not agents are ignored. */
function collect(value: unknown): readonly Agent[] {
  if (Array.isArray(value)) return value.filter(isAgent);
  return isAgent(value) ? [value] : [];
}

/** Recognised by its shape: the module may import `agent` from another copy of this package. */
function isAgent(value: unknown): value is Agent {
  if (typeof value !== "object" || value === null) return false;
  const hasText = (field: string) => typeof Reflect.get(value, field) === "string";
  const handles = ["run", "reply"].some((field) => typeof Reflect.get(value, field) === "function");
  return (
    ["id", "name", "description", "version"].every(hasText) && (handles || Array.isArray(Reflect.get(value, "skills")))
  );
}
