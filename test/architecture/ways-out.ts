import { readFileSync } from "node:fs";
import { join, relative } from "node:path";
import { parseAst } from "rolldown/parseAst";
import { ROOT, sourceFiles } from "./imports.ts";

/** A place where a request could leave this process. The path is relative to `src/`, with forward slashes. */
export interface WayOut {
  readonly file: string;
  /** A global name, or a module and what is taken from it: `node:net connect`. */
  readonly what: string;
}

/** Names that everybody has and that open connections. */
const GLOBALS: readonly string[] = [
  "fetch",
  "WebSocket",
  "WebSocketStream",
  "EventSource",
  "XMLHttpRequest",
  "sendBeacon",
];
const GLOBAL_OBJECTS: readonly string[] = ["globalThis", "window", "self", "global", "navigator"];

/** Of modules that open connections, what opens none. Everything else of them is a way out. */
const HARMLESS: Readonly<Record<string, readonly string[]>> = {
  http: ["createServer", "Server", "STATUS_CODES", "METHODS"],
  https: ["createServer", "Server"],
  http2: ["createServer", "createSecureServer", "constants"],
  net: ["isIP", "isIPv4", "isIPv6", "BlockList", "SocketAddress", "createServer", "Server"],
  tls: ["createServer", "Server", "createSecureContext", "TLSSocket"],
  dgram: [],
  undici: [],
  axios: [],
  ws: [],
};

/** Every way out of one file. */
export function waysOutOf(file: string, source: string): readonly WayOut[] {
  const found = new Set<string>();
  // Safe: whatever it is, it is looked at by its members.
  visit(parseAst(source, { lang: "ts" }, file) as unknown as Node, [], found);
  return Array.from(found, (what) => ({ file, what }));
}

/** Every way out of the sources below `src/`. */
export function waysOutOfSources(): readonly WayOut[] {
  const src = join(ROOT, "src");
  return sourceFiles(src).flatMap((path) =>
    waysOutOf(relative(src, path).replaceAll("\\", "/"), readFileSync(path, "utf8")),
  );
}

interface Node {
  readonly type: string;
  readonly [member: string]: unknown;
}

/** Goes through a program with the names that are bound around each place. */
function visit(node: Node, scopes: readonly ReadonlySet<string>[], found: Set<string>): void {
  if (isErased(node)) return;
  const inner = opensScope(node) ? [...scopes, namesBoundIn(node)] : scopes;
  const isGlobal = (name: string): boolean => !inner.some((scope) => scope.has(name));
  const { type } = node;
  const name = type === "Identifier" ? nameOf(node) : undefined;
  if (name !== undefined && GLOBALS.includes(name) && isGlobal(name)) found.add(name);
  if (type === "MemberExpression") noteMember(node, isGlobal, found);
  if (type === "ImportDeclaration" || type === "ExportNamedDeclaration" || type === "ExportAllDeclaration") {
    noteImport(node, found);
  }
  if (type === "ImportExpression" || type === "CallExpression") noteDynamicImport(node, found);
  for (const child of childrenOf(node)) visit(child, inner, found);
}

function noteMember(node: Node, isGlobal: (name: string) => boolean, found: Set<string>): void {
  const [object = "", property = ""] = [nameOf(nodeAt(node, "object")), nameOf(nodeAt(node, "property"))];
  if (GLOBAL_OBJECTS.includes(object) && isGlobal(object) && GLOBALS.includes(property)) found.add(property);
}

function noteImport(node: Node, found: Set<string>): void {
  const source = nameOf(nodeAt(node, "source")) ?? "";
  const harmless = harmlessOf(source);
  if (harmless === undefined) return;
  const specifiers = listAt(node, "specifiers");
  if (node.type === "ExportAllDeclaration" || (specifiers.length === 0 && node.type === "ImportDeclaration")) {
    found.add(`${source} *`);
  }
  for (const specifier of specifiers) {
    if (specifier["importKind"] === "type" || specifier["exportKind"] === "type") continue;
    const imported =
      nodeAt(specifier, "imported") ?? (node.type === "ImportDeclaration" ? undefined : nodeAt(specifier, "local"));
    const name = nameOf(imported) ?? "*";
    if (!harmless.includes(name)) found.add(`${source} ${name}`);
  }
}

/** `import("node:net")`, `require("net")` and `process.getBuiltinModule("net")` alike. */
function noteDynamicImport(node: Node, found: Set<string>): void {
  const [first] = node.type === "ImportExpression" ? [nodeAt(node, "source")] : listAt(node, "arguments");
  const callee = nodeAt(node, "callee");
  const called = nameOf(callee) ?? nameOf(nodeAt(callee, "property")) ?? "import";
  if (!["import", "require", "getBuiltinModule"].includes(called)) return;
  const source = nameOf(first) ?? "";
  if (harmlessOf(source) !== undefined) found.add(`${source} *`);
}

function harmlessOf(source: string): readonly string[] | undefined {
  const name = source.replace(/^node:/, "");
  return Object.hasOwn(HARMLESS, name) ? HARMLESS[name] : undefined;
}

/** Types are gone before the program runs. */
function isErased(node: Node): boolean {
  if (node["importKind"] === "type" || node["exportKind"] === "type") return true;
  return node.type.startsWith("TS") && !/^TS(As|NonNull|Satisfies|Instantiation|TypeAssertion)/.test(node.type);
}

function opensScope({ type }: Node): boolean {
  return type === "Program" || type.includes("Function");
}

/** All names bound in a function or module, without those of the functions in it. */
function namesBoundIn(scope: Node): ReadonlySet<string> {
  const names = new Set<string>();
  for (const parameter of listAt(scope, "params")) bind(parameter, names);
  const gather = (node: Node): void => {
    if (isErased(node)) return;
    if (/^(VariableDeclarator|FunctionDeclaration|ClassDeclaration)$/.test(node.type)) bind(nodeAt(node, "id"), names);
    if (node.type === "CatchClause") bind(nodeAt(node, "param"), names);
    if (/^Import.*Specifier$/.test(node.type)) bind(nodeAt(node, "local"), names);
    if (!node.type.includes("Function")) for (const child of childrenOf(node)) gather(child);
  };
  for (const child of childrenOf(scope)) gather(child);
  return names;
}

/** The names that a pattern binds. What it takes them from, and what it falls back to, are not among them. */
function bind(pattern: Node | undefined, names: Set<string>): void {
  if (pattern === undefined) return;
  if (pattern.type === "Identifier") names.add(nameOf(pattern) ?? "");
  bind(nodeAt(pattern, "left"), names);
  bind(nodeAt(pattern, "argument"), names);
  if (pattern.type === "Property") bind(nodeAt(pattern, "value"), names);
  for (const part of [...listAt(pattern, "properties"), ...listAt(pattern, "elements")]) bind(part, names);
}

/** What a node is made of, without names that are no references: members, keys, and what is imported. */
function childrenOf(node: Node): readonly Node[] {
  const skipped = new Set<unknown>();
  if (node["computed"] !== true) {
    if (node.type === "MemberExpression") skipped.add(node["property"]);
    if (/^(Property|MethodDefinition|PropertyDefinition|AccessorProperty)$/.test(node.type)) skipped.add(node["key"]);
  }
  if (/^Import.*Specifier$/.test(node.type)) skipped.add(node["imported"]);
  return Object.values(node)
    .flat()
    .filter((child): child is Node => isNode(child) && !skipped.has(child));
}

/** What an identifier or a literal says. */
function nameOf(node: Node | undefined): string | undefined {
  const name = node?.["name"] ?? node?.["value"];
  return typeof name === "string" ? name : undefined;
}

function nodeAt(node: Node | undefined, member: string): Node | undefined {
  const value = node?.[member];
  return isNode(value) ? value : undefined;
}

function listAt(node: Node, member: string): readonly Node[] {
  const value = node[member];
  return Array.isArray(value) ? value.filter(isNode) : [];
}

function isNode(value: unknown): value is Node {
  return typeof value === "object" && value !== null && "type" in value && typeof value.type === "string";
}
