import { connect } from "node:net";
import { text } from "node:stream/consumers";
import { type AgentDefinition, agent, createServer, type Server, type ServerOptions } from "palaver";

export const SILENT: NonNullable<ServerOptions["logger"]> = { debug() {}, info() {}, warn() {}, error() {} };

/** An authenticator that accepts the caller's name without proof. */
export const byName: NonNullable<ServerOptions["authenticate"]> = ({ headers }) => {
  const id = /^Bearer (\w+)$/.exec(headers.get("authorization") ?? "")?.[1];
  return id === undefined ? undefined : { id, anonymous: false };
};

/** A server to attack, over real sockets. */
export interface Target extends AsyncDisposable {
  readonly url: string;
  readonly port: number;
  readonly server: Server;
  /** Number of runs of its agent so far. */
  runs(): number;
  rest(line: string, options?: Asking): Promise<Response>;
  rpc(method: string, params: unknown, options?: Asking): Promise<Response>;
  /**
   * Sends these bytes and returns the response until the server closes the connection; `cut` if it closed before all
   * bytes were sent.
   */
  raw(bytes: string): Promise<string>;
}

export interface Asking {
  readonly as?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: unknown;
  /** Sent unchanged. */
  readonly text?: string;
}

export async function openTarget(
  options: ServerOptions = {},
  definition: Partial<AgentDefinition> = {},
): Promise<Target> {
  let runs = 0;
  const victim = agent({
    name: "Victim",
    description: "Follows a script.",
    version: "1.0.0",
    async run(task) {
      runs += 1;
      if (task.text === "ask") await task.ask("What?");
      if (task.text === "hang") await new Promise((resolve) => task.signal.addEventListener("abort", resolve));
      return task.message.parts;
    },
    outputModes: ["*/*"],
    ...definition,
  });
  const server = createServer(victim, {
    host: "127.0.0.1",
    port: 0,
    store: "memory:",
    drainTimeout: 0,
    logger: SILENT,
    ...options,
  });
  const { url, port } = await server.listen();
  const ask = (method: string, path: string, { as, headers, body, text: raw }: Asking = {}): Promise<Response> =>
    fetch(url + path, {
      method,
      redirect: "manual",
      headers: {
        ...((body !== undefined || raw !== undefined) && { "content-type": "application/json" }),
        "a2a-version": "1.0",
        ...(as !== undefined && { authorization: `Bearer ${as}` }),
        ...headers,
      },
      ...(raw !== undefined ? { body: raw } : body !== undefined && { body: JSON.stringify(body) }),
    });
  return {
    url,
    port,
    server,
    runs: () => runs,
    rest: (line, options_) => {
      const [method = "", path = ""] = line.split(" ");
      return ask(method, path, options_);
    },
    rpc: (method, params, options_) =>
      ask("POST", "/", { ...options_, body: { jsonrpc: "2.0", id: 1, method, params } }),
    raw: async (bytes) => {
      const socket = connect(port, "127.0.0.1");
      socket.end(bytes);
      return text(socket).catch(() => "cut");
    },
    [Symbol.asyncDispose]: () => server.close(),
  };
}

/** The parameters of a send. */
export function sendParams(words: string, members: object = {}): { readonly message: object } {
  return { message: { messageId: `m-${Math.random()}`, role: "ROLE_USER", parts: [{ text: words }], ...members } };
}

/** All of a response that a caller can see, without values that depend only on time. */
export async function seen(response: Response): Promise<unknown> {
  const headers = Object.fromEntries([...response.headers].filter(([name]) => name !== "date"));
  return { status: response.status, headers, body: await response.text() };
}
