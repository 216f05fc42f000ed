import type { Import } from "./imports.ts";

/**
 * Which folder of `src/` may import what: folders, or single files of one. Its own folder always. `*` is every folder but
 * those named after it with `!`.
 */
export const DIRECTIONS: Readonly<Record<string, readonly string[]>> = {
  protocol: [],
  internal: [],
  wire: ["protocol", "internal"],
  store: ["protocol", "internal"],
  bus: ["protocol", "internal"],
  auth: ["protocol", "internal"],
  /** Of `auth`, what secrets are encrypted with on their way back: pure, and of no use without the engine's own keys. */
  engine: ["protocol", "internal", "auth/secret-box.ts", "store/contract.ts", "bus/contract.ts"],
  /** Requests that leave this process for addresses strangers named. */
  outgoing: ["protocol", "internal"],
  /** Tells webhooks what happens: a reader of the log, like a stream. */
  push: ["protocol", "internal", "engine", "auth", "outgoing", "wire", "store/contract.ts", "bus/contract.ts"],
  server: ["protocol", "internal", "engine", "auth", "push/contract.ts", "store/contract.ts", "bus/contract.ts"],
  transport: ["protocol", "internal", "wire", "server", "auth"],
  client: ["protocol", "internal", "wire", "auth"],
  /** For who receives what `push` sends. */
  webhook: ["protocol", "internal", "wire", "auth"],
  /** Agents whose work is done elsewhere. */
  adapters: ["protocol", "internal", "engine/agent/agent.ts", "engine/agent/task-failure.ts", "client"],
  demo: ["protocol", "engine/agent/agent.ts"],
  /** Functions over a server that is there already: of the platform and the engine it knows types alone. */
  plain: ["protocol", "wire", "platform/create-server.ts", "engine/agent/agent.ts"],
  platform: ["*", "!cli", "!testing", "!plain"],
  testing: ["*", "!cli", "!platform"],
  cli: [
    "client",
    "platform",
    "webhook",
    "demo",
    "adapters",
    "protocol",
    "internal/make-folder.ts",
    "wire/official-json.ts",
  ],
  /** The package's entry points, which lie in `src/` itself. */
  "": ["*", "!cli"],
};

/** Third-party packages, and the folders that may use each. Those only tests use are development dependencies. */
export const PACKAGES: Readonly<Record<string, readonly string[]>> = {
  "@standard-schema/spec": ["engine", "demo", "testing"],
  commander: ["cli"],
  jose: ["auth"],
  pino: ["platform"],
  "fast-check": ["testing"],
};

/** No Node in these folders, so that they run anywhere: pure functions over data, and what callers use in browsers. */
export const WITHOUT_NODE: readonly string[] = ["protocol", "wire", "auth", "client", "webhook"];

/** Only these import a store or a bus itself rather than its contract. */
export const MAY_IMPORT_CONCRETE: readonly string[] = ["platform", "testing", ""];

/** A sentence for every import that the tables above do not allow. */
export function violations(imports: readonly Import[]): readonly string[] {
  return imports.flatMap((entry) => {
    const problem = problemOf(entry);
    return problem === undefined ? [] : [`src/${entry.from} imports ${entry.to}: ${problem}`];
  });
}

function problemOf({ from, to, kind }: Import): string | undefined {
  const layer = folderOf(from);
  const allowed = DIRECTIONS[layer];
  if (allowed === undefined) return `the folder ${layer} has no row in the table of directions`;
  if (kind === "node") return WITHOUT_NODE.includes(layer) ? `${layer} must not depend on Node` : undefined;
  if (kind === "package") {
    const users = PACKAGES[to];
    if (users === undefined) return "no folder may use this package";
    return users.includes(layer) ? undefined : `only ${users.join(", ")} may use this package`;
  }
  const target = folderOf(to);
  if (target !== "wire" || layer !== "wire") {
    if (/^wire\/(v\d|proto\/)/.test(to)) return "nothing outside wire may know a version";
  }
  if (/^(store|bus)\/[^/]+\//.test(to) && layer !== target && !MAY_IMPORT_CONCRETE.includes(layer)) {
    return "only the composition root may choose a store or a bus; import the contract";
  }
  if (target === layer || allows(allowed, target, to)) return undefined;
  return `${layer === "" ? "an entry point" : layer} may import only ${allowed.join(", ") || "nothing"}`;
}

function allows(allowed: readonly string[], target: string, file: string): boolean {
  if (allowed.includes(target) || allowed.includes(file)) return true;
  return allowed.includes("*") && !allowed.includes(`!${target}`);
}

function folderOf(file: string): string {
  return file.includes("/") ? file.slice(0, file.indexOf("/")) : "";
}

/** The imports of these files, of the files they import, and so on. */
export function reachable(imports: readonly Import[], entries: readonly string[]): readonly Import[] {
  const files = new Set(entries);
  // A set's iteration goes on to what is added meanwhile.
  for (const file of files) {
    for (const { from, to, kind } of imports) if (from === file && kind === "file") files.add(to);
  }
  return imports.filter(({ from }) => files.has(from));
}

/** One cycle of imports that exist when the program runs, as the files along it; `undefined` if there is none. */
export function findCycle(imports: readonly Import[]): readonly string[] | undefined {
  const next = new Map<string, string[]>();
  for (const { from, to, kind, typeOnly } of imports) {
    if (kind === "file" && !typeOnly) next.set(from, [...(next.get(from) ?? []), to]);
  }
  const done = new Set<string>();
  const walk = (file: string, path: readonly string[]): readonly string[] | undefined => {
    if (path.includes(file)) return [...path.slice(path.indexOf(file)), file];
    if (done.has(file)) return undefined;
    for (const target of next.get(file) ?? []) {
      const cycle = walk(target, [...path, file]);
      if (cycle !== undefined) return cycle;
    }
    done.add(file);
    return undefined;
  };
  for (const file of next.keys()) {
    const cycle = walk(file, []);
    if (cycle !== undefined) return cycle;
  }
  return undefined;
}
