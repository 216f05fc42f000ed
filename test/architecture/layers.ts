import type { Import } from "./imports.ts";

/**
 * Which folder of `src/` may import what: folders, or single files of one. Its own folder always. `*` is every folder but
 * those named after it with `!`.
 */
export const DIRECTIONS: Readonly<Record<string, readonly string[]>> = {
  protocol: [],
  internal: [],
  /** The interface by which a server or a client is observed; spans, metrics and the request log that are made of it. */
  telemetry: ["protocol", "internal"],
  wire: ["protocol", "internal"],
  store: ["protocol", "internal"],
  bus: ["protocol", "internal"],
  auth: ["protocol", "internal"],
  /** Of `auth`, what secrets are encrypted with on their way back: pure, and of no use without the engine's own keys. */
  engine: [
    "protocol",
    "internal",
    "auth/secret-box.ts",
    "store/contract.ts",
    "store/commit-writer.ts",
    "store/store-wrapper.ts",
    "bus/contract.ts",
    "telemetry",
  ],
  /** Requests to addresses that callers chose. */
  outgoing: ["protocol", "internal"],
  /** Notifies webhooks of events, which it reads from the log, like a stream. */
  push: [
    ...["protocol", "internal", "auth", "outgoing", "wire", "bus/contract.ts"],
    ...["store/contract.ts", "store/commit-writer.ts"],
    ...["engine/api.ts", "engine/read", "engine/record", "telemetry"],
  ],
  server: [
    ...["protocol", "internal", "auth", "push/contract.ts", "store/contract.ts", "bus/contract.ts"],
    ...["engine/api.ts", "engine/agent", "engine/read"],
  ],
  /** Operations for operators, over the tasks of all callers. */
  operator: [
    ...["protocol", "internal", "store/contract.ts", "push/contract.ts", "telemetry"],
    ...["engine/api.ts", "engine/record"],
  ],
  transport: ["protocol", "internal", "wire", "server", "auth", "telemetry", "operator"],
  client: ["protocol", "internal", "wire", "auth", "telemetry"],
  /** Verifies received notifications. */
  webhook: ["protocol", "internal", "wire", "auth"],
  /** Agents whose work is done elsewhere. */
  adapters: [
    ...["protocol", "internal", "client"],
    ...["engine/agent/agent.ts", "engine/agent/json-schema.ts", "engine/agent/task-failure.ts"],
  ],
  demo: ["protocol", "adapters", "engine/agent/agent.ts"],
  /** Functions over an existing server; imports only types of the platform and the engine. */
  plain: [
    ...["protocol", "internal", "wire", "client/http/sse.ts"],
    ...["platform/create-server.ts", "engine/agent/agent.ts"],
  ],
  platform: ["*", "!cli", "!testing", "!plain"],
  /** Of the platform, how agents of one server call each other. */
  testing: ["*", "!cli", "!platform", "platform/calls/callees.ts"],
  cli: [
    "client",
    "platform",
    "webhook",
    "demo",
    "adapters",
    "protocol",
    "internal/make-folder.ts",
    "internal/terminal-text.ts",
    "internal/without-trailing.ts",
    "wire/official-json.ts",
  ],
  /** The package's entry points, which lie in `src/` itself. */
  "": ["*", "!cli"],
};

/**
 * The sub-folders of a folder, and which of its other sub-folders and files each may import. What they may import from elsewhere is the
 * folder's row above. Files that lie in the folder itself may import all of it.
 */
export const SUBFOLDERS: Readonly<Record<string, Readonly<Record<string, readonly string[]>>>> = {
  /** Along the life of a message: `intake` accepts it, `run` calls the agent, `log` writes events, `read` shows them, `recover` starts again after a crash. */
  engine: {
    agent: [],
    record: [],
    read: ["record", "api.ts"],
    log: ["agent", "record", "read", "api.ts", "limits.ts"],
    /** Compares what a run produces with what earlier attempts have logged. */
    replay: ["log", "read", "record"],
    /** What the agent's code reads and writes beyond its own task: values and earlier tasks of the context. */
    context: ["agent", "read", "log", "api.ts"],
    /** Calls of other agents. It knows them by a contract: where they run, the platform decides. */
    call: ["agent", "record", "log"],
    run: ["agent", "call", "context", "record", "read", "log", "replay", "api.ts", "limits.ts"],
    intake: ["agent", "call", "record", "read", "log", "run", "api.ts", "limits.ts", "parts.ts"],
    recover: ["agent", "record", "read", "log", "run", "parts.ts"],
  },
  "store/sqlite": {
    row: [],
    migrations: [],
    read: ["row", "connection.ts", "counters.ts", "scope-ids.ts", "unheld-webhooks-finder.ts"],
    write: [
      ...["row", "connection.ts", "counters.ts", "scope-ids.ts", "sqlite-error.ts"],
      ...["agent-ids.ts", "due-tasks-finder.ts", "unheld-webhooks-finder.ts"],
    ],
    /** Reads and writes a whole file, for `palaver db copy`. */
    copy: [
      ...["row", "read", "connection.ts", "counters.ts", "scope-ids.ts", "agent-ids.ts"],
      ...["owner-lock.ts", "sqlite-error.ts", "file-identity.ts"],
    ],
  },
  "store/postgres": {
    row: [],
    migrations: [],
    /** SQL functions that commit, claim and delete inside the database. */
    functions: [],
    read: ["row", "connections.ts"],
    /** Reads and writes a whole schema, for `palaver db copy`. */
    copy: ["row", "migrate.ts", "postgres-error.ts", "query.ts", "report.ts", "schema.ts"],
  },
  telemetry: {
    /** Names, ids and times of spans. */
    spans: ["contract.ts", "telemetry-of.ts"],
    /** Sends spans to a collector. */
    otlp: ["spans", "contract.ts"],
    /** Makes spans with the operator's OpenTelemetry SDK. */
    otel: ["spans", "contract.ts"],
    metrics: ["call-report.ts"],
    "request-log": ["call-report.ts"],
  },
  client: {
    http: [],
    credentials: ["http"],
    discovery: ["http"],
    invoke: ["http", "credentials", "discovery", "message-input.ts"],
    follow: ["http", "agent-host.ts", "api.ts"],
    /** gRPC: the same channels as `http`, over HTTP/2. */
    grpc: ["http"],
  },
};

/** Folders that may hold more than {@link MAX_FILES} source files, and why. */
export const LARGE_FOLDERS: Readonly<Record<string, string>> = {};
export const MAX_FILES = 25;

/** Third-party packages, and the folders that may use each. Those only tests use are development dependencies. */
export const PACKAGES: Readonly<Record<string, readonly string[]>> = {
  "@standard-schema/spec": ["engine", "transport", "adapters", "demo", "testing"],
  commander: ["cli"],
  jose: ["auth"],
  pino: ["platform"],
  "fast-check": ["testing"],
  "@bufbuild/protobuf": ["wire"],
  "@opentelemetry/api": ["telemetry"],
  "@ai-sdk/openai-compatible": ["adapters"],
  "@modelcontextprotocol/client": ["adapters"],
  /** An optional peer, loaded at the first request of an MCP client. */
  "@modelcontextprotocol/server": ["transport"],
  "@agentclientprotocol/sdk": ["adapters"],
  "@langchain/langgraph": ["adapters"],
  "@openai/agents": ["adapters"],
  /** An optional peer, loaded when a PostgreSQL store is opened. */
  pg: ["internal"],
  /** An optional peer, loaded when a bus of NATS is opened. */
  "@nats-io/transport-node": ["bus"],
};

/** Optional peers whose agents are described by structural types: the manifest states which versions fit, and nothing is imported. */
export const STRUCTURAL_PEERS: readonly string[] = ["ai"];

/** No Node in these folders, so that they run anywhere: pure functions over data, and what callers use in browsers. */
export const WITHOUT_NODE: readonly string[] = ["protocol", "telemetry", "wire", "auth", "client", "webhook"];

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
    const users = PACKAGES[packageOf(to)];
    if (users === undefined) return "no folder may use this package";
    return users.includes(layer) ? undefined : `only ${users.join(", ")} may use this package`;
  }
  const sub = subfolderProblem(from, to);
  if (sub !== undefined) return sub;
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

/** The name of the package in a specifier such as `@scope/name/file`. */
export function packageOf(specifier: string): string {
  return specifier.split("/", specifier.startsWith("@") ? 2 : 1).join("/");
}

function subfolderProblem(from: string, to: string): string | undefined {
  for (const [folder, rows] of Object.entries(SUBFOLDERS)) {
    const [own, name] = [placeIn(folder, from), placeIn(folder, to)];
    if (own === undefined || name === undefined || own.endsWith(".ts") || own === name) continue;
    const allowed = rows[own];
    if (allowed === undefined) return `the sub-folder ${folder}/${own} has no row in the table of sub-folders`;
    if (!allowed.includes(name))
      return `of ${folder}, ${folder}/${own} may import only ${allowed.join(", ") || "itself"}`;
  }
  return undefined;
}

/** The sub-folder of `folder` that a file lies in, or the file's own name if it lies in the folder itself. */
function placeIn(folder: string, file: string): string | undefined {
  return file.startsWith(`${folder}/`) ? file.slice(folder.length + 1).split("/")[0] : undefined;
}

function allows(allowed: readonly string[], target: string, file: string): boolean {
  if (allowed.includes(target) || allowed.includes(file)) return true;
  if (allowed.some((entry) => file.startsWith(`${entry}/`))) return true;
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

/** One cycle of imports, imports of types included, as the files along it; `undefined` if there is none. */
export function findCycle(imports: readonly Import[]): readonly string[] | undefined {
  const next = new Map<string, string[]>();
  for (const { from, to, kind } of imports) {
    if (kind === "file") next.set(from, [...(next.get(from) ?? []), to]);
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
