import { describe, expect, it } from "vitest";
import { type WayOut, waysOutOf, waysOutOfSources } from "./ways-out.ts";

/**
 * Who may open connections without asking `outgoing`, as a file or a folder. All others call addresses that strangers named, and a request
 * of theirs that goes another way is a hole in the wall.
 */
const ALLOWED: readonly WayOut[] = [
  // Runs in browsers, calls whom its user names, and takes a `fetch` and a guard from who does not want that.
  { file: "client/", what: "fetch" },
  // As above; a client with a `fetch` of its user's own uses gRPC only if the user asks for it.
  { file: "client/grpc/http2-connection.ts", what: "node:http2 *" },
  // Sends spans to the collector that the operator named.
  { file: "telemetry/otlp/otlp-exporter.ts", what: "fetch" },
  { file: "platform/tracing/collector-connection.ts", what: "node:http Agent" },
  { file: "platform/tracing/collector-connection.ts", what: "node:http request" },
  { file: "platform/tracing/collector-connection.ts", what: "node:https Agent" },
  { file: "platform/tracing/collector-connection.ts", what: "node:https request" },
  // The class of answers, to recognise one of `node:http`.
  { file: "transport/node/direct-writer.ts", what: "node:http ServerResponse" },
  // Calls the MCP server that the operator named, and nothing else: redirects stay within its origin.
  { file: "adapters/mcp/open-transport.ts", what: "fetch" },
  // Calls whom the person at the terminal names.
  { file: "cli/node-context.ts", what: "fetch" },
  { file: "cli/http/node-send.ts", what: "node:http *" },
  { file: "cli/http/node-send.ts", what: "node:https *" },
  // Runs anywhere, and fetches the keys of issuers that the receiver of notifications has named.
  { file: "webhook/issuer-keys.ts", what: "fetch" },
];

const covers = (allowed: WayOut, { file, what }: WayOut): boolean =>
  what === allowed.what && (file === allowed.file || (allowed.file.endsWith("/") && file.startsWith(allowed.file)));

function isAllowed(way: WayOut): boolean {
  return way.file.startsWith("outgoing/") || ALLOWED.some((allowed) => covers(allowed, way));
}

describe("requests to addresses that callers chose", () => {
  const ways = waysOutOfSources();

  it("leave this process only through `outgoing`", () => {
    expect(ways.filter((way) => !isAllowed(way))).toEqual([]);
  });

  it("are the only reason for an entry in the list of exceptions", () => {
    expect(ALLOWED.filter((allowed) => !ways.some((way) => covers(allowed, way)))).toEqual([]);
    expect(ways.some(({ file }) => file.startsWith("outgoing/"))).toBe(true);
  });
});

describe("the search for ways out", () => {
  const found = (source: string): readonly string[] => waysOutOf("push/http-sender.ts", source).map(({ what }) => what);

  it.each([
    ["await fetch(url);", "fetch"],
    ["const get = options.fetch ?? fetch;", "fetch"],
    ["const face = { fetch };", "fetch"],
    ["globalThis.fetch(url);", "fetch"],
    ['globalThis["fetch"](url);', "fetch"],
    ["function f({ fetch: other }: Options) { return fetch(other); }", "fetch"],
    ["const a = ({ fetch }: Options) => fetch; const b = () => fetch(1);", "fetch"],
    ["function f(get = fetch) { return get; }", "fetch"],
    ["class A { #get = fetch; }", "fetch"],
    [`const x = \`\${fetch(url)}\`;`, "fetch"],
    ["const x = fetch as Fetch;", "fetch"],
    ["new WebSocket(url);", "WebSocket"],
    ["new EventSource(url);", "EventSource"],
    ["navigator.sendBeacon(url);", "sendBeacon"],
    ['import { request } from "node:https";', "node:https request"],
    ['import { get as look } from "http";', "http get"],
    ['import http from "node:http";', "node:http *"],
    ['import * as net from "node:net";', "node:net *"],
    ['import { connect, isIP } from "node:net";', "node:net connect"],
    ['import { connect } from "node:tls";', "node:tls connect"],
    ['import { connect } from "node:http2";', "node:http2 connect"],
    ['import { createSocket } from "node:dgram";', "node:dgram createSocket"],
    ['import { fetch as other } from "undici";', "undici fetch"],
    ['export { request } from "node:http";', "node:http request"],
    ['export * from "node:http";', "node:http *"],
    ['const { connect } = await import("node:net");', "node:net *"],
    ['const net = require("net");', "net *"],
    ['process.getBuiltinModule("node:net").connect(1);', "node:net *"],
  ])("sees %s", (source, what) => {
    expect(found(source)).toEqual([what]);
  });

  it.each([
    "outgoing.fetch(url);",
    "export interface Options { readonly fetch: typeof fetch }",
    "export type Fetch = typeof globalThis.fetch;",
    "async function keys({ url, fetch }: Options) { const load = async () => fetch(url); return load(); }",
    "const { fetch } = createOutgoing(); fetch(url);",
    "function f(fetch: Fetch) { return { fetch }; }",
    "const face = { fetch: 1, async fetch() {} };",
    "class A { fetch(): void {} }",
    "// fetch(url)\nconst text = 'fetch(url)';",
    'import type { Socket } from "node:net"; import { type IncomingMessage, createServer } from "node:http";',
    'import { BlockList, isIPv6 } from "node:net";',
    'await import("../store/sqlite/store.ts");',
  ])("lets pass %s", (source) => {
    expect(found(source)).toEqual([]);
  });
});
