// Checks that docs/reference/api has what the doc comments say, one page per entry point; `--write` writes the pages.
// The pages are made from the `.d.ts` files of the build, so they show the types that users of the package get.
import { execFile } from "node:child_process";
import { mkdir, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { type Declaration, declarationsOf, originOf, usedBy } from "./api-reference/declarations.ts";
import { anchorOf, type EntryPoint, pageOf } from "./api-reference/page.ts";

const ROOT = dirname(dirname(fileURLToPath(import.meta.url)));
const FOLDER = "docs/reference/api";

/** Keys: the entry file in `src`, without `.ts`. */
export const ENTRY_POINTS: Readonly<Record<string, EntryPoint>> = {
  index: {
    specifier: "palaver",
    purpose: "Write agents and serve them.",
  },
  acp: {
    specifier: "palaver/acp",
    purpose: "Agents that run a program which speaks the Agent Client Protocol, such as a coding agent.",
  },
  "ai-sdk": {
    specifier: "palaver/ai-sdk",
    purpose: "Serve agents of the AI SDK.",
  },
  auth: {
    specifier: "palaver/auth",
    purpose: "Authenticate callers: API keys, Basic, JWT, OpenID Connect, mutual TLS, and policies.",
  },
  client: {
    specifier: "palaver/client",
    purpose: "Call other agents. Runs in Node and in browsers.",
  },
  langgraph: {
    specifier: "palaver/langgraph",
    purpose: "Serve graphs of LangGraph and agents of LangChain.",
  },
  mcp: {
    specifier: "palaver/mcp",
    purpose: "Agents whose skills are the tools of an MCP server.",
  },
  models: {
    specifier: "palaver/models",
    purpose: "Agents with a language model: tools, approvals and memory.",
  },
  "openai-agents": {
    specifier: "palaver/openai-agents",
    purpose: "Serve agents of the OpenAI Agents SDK.",
  },
  outgoing: {
    specifier: "palaver/outgoing",
    purpose: "Guarded HTTP requests to addresses that callers choose.",
  },
  plain: {
    specifier: "palaver/plain",
    purpose: "Plain functions over a server, for programs that handle HTTP themselves.",
  },
  process: {
    specifier: "palaver/process",
    purpose: "Agents that run a program for each task.",
  },
  server: {
    specifier: "palaver/server",
    purpose: "Options, limits, hooks and records of a server, for programs that configure or mount one.",
  },
  store: {
    specifier: "palaver/store",
    purpose: "The contract of stores, for a store of your own.",
  },
  telemetry: {
    specifier: "palaver/telemetry",
    purpose: "Trace servers and clients with OpenTelemetry.",
  },
  testing: {
    specifier: "palaver/testing",
    purpose: "Test agents with crashes, a fake clock and prepared models; test a store of your own.",
  },
  webhook: {
    specifier: "palaver/webhook",
    purpose: "Receive and verify the notifications that an agent sends to your webhook.",
  },
};

/** Every page of the API reference, as it should be: path relative to the repository, and text. */
async function apiPages(): Promise<ReadonlyMap<string, string>> {
  const folder = await mkdtemp(join(tmpdir(), "palaver-api-"));
  try {
    const compiler = join(ROOT, "node_modules", "typescript", "bin", "tsc");
    // Without a check of types: `isolatedDeclarations` makes the declarations independent of it.
    const options = ["--project", "tsconfig.build.json", "--emitDeclarationOnly", "--noCheck", "--outDir", folder];
    await promisify(execFile)(process.execPath, [compiler, ...options], { cwd: ROOT });
    return pagesFrom(folder);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

function pagesFrom(folder: string): ReadonlyMap<string, string> {
  const entries = Object.entries(ENTRY_POINTS).map(([file, entry]) => ({
    entry,
    page: `${entry.specifier.split("/").at(-1)}.md`,
    exported: declarationsOf(join(folder, `${file}.d.ts`)),
  }));
  /** Where each exported declaration is described: on the first page that has it. */
  const places = new Map<string, string>();
  for (const { page, exported } of entries) {
    for (const declaration of exported) {
      const origin = originOf(declaration);
      if (!places.has(origin)) places.set(origin, `${page}#${anchorOf(declaration)}`);
    }
  }
  const isElsewhere = (declaration: Declaration): boolean => places.has(originOf(declaration));
  const written = entries.map(({ entry, page, exported }) => {
    const reached = usedBy(exported, isElsewhere);
    const used = reached.filter((declaration) => !isElsewhere(declaration));
    const elsewhere = new Map(
      reached.filter(isElsewhere).map((declaration) => [declaration.name, places.get(originOf(declaration)) ?? ""]),
    );
    return [`${FOLDER}/${page}`, pageOf(entry, { exported, used, elsewhere })] as const;
  });
  return new Map(written);
}

/** The pages that are missing or differ from the doc comments. */
export async function outdatedPages(): Promise<readonly string[]> {
  const pages = await apiPages();
  const outdated = [];
  for (const [path, text] of pages) {
    const present = await readFile(join(ROOT, path), "utf8").catch(() => undefined);
    if (present !== text) outdated.push(path);
  }
  return outdated;
}

async function write(): Promise<void> {
  const pages = await apiPages();
  await mkdir(join(ROOT, FOLDER), { recursive: true });
  for (const [path, text] of pages) await writeFile(join(ROOT, path), text);
  console.log(`${pages.size} pages written to ${FOLDER}.`);
}

async function check(): Promise<void> {
  const outdated = await outdatedPages();
  for (const path of outdated) console.error(`${path} is out of date.`);
  if (outdated.length === 0) return console.log("The API reference is up to date.");
  console.error("Run `npm run api-reference -- --write` and commit the result.");
  process.exitCode = 1;
}

if (import.meta.main) await (process.argv.includes("--write") ? write() : check());
