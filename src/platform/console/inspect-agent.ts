import { randomBytes } from "node:crypto";
import { SILENT_LOGGER } from "../../internal/logger.ts";
import { createOutgoing } from "../../outgoing/create-outgoing.ts";
import { BodyMemory } from "../../transport/body/body-memory.ts";
import { createBrowserPages } from "../../transport/console/browser-pages.ts";
import { plainPage } from "../../transport/console/console-page.ts";
import { createConsoleSessions } from "../../transport/console/console-sessions.ts";
import { createForwardPath } from "../../transport/console/forward-path.ts";
import type { Exchange, Reply } from "../../transport/exchange.ts";
import { createHttp2Handler } from "../../transport/http2/http2-handler.ts";
import { createNodeHandler } from "../../transport/node/node-handler.ts";
import type { TransportEnvironment } from "../../transport/options.ts";
import { Listener } from "../listener.ts";
import { forLocalNames } from "../local-names.ts";
import { StartupError } from "../startup-error.ts";
import { packageVersion } from "../version.ts";
import { createConsoleLoader } from "./load-console.ts";

export interface InspectOptions {
  /** The agent, or its card: an http or https URL. */
  readonly agent: string;
  /** Default 0: a free port. */
  readonly port?: number;
  /** Hosts besides the agent's own that its card may name although they are not on the public internet, such as `10.0.0.7:9000`. */
  readonly allow?: readonly string[];
}

/** A console for one agent. */
export interface Inspector {
  readonly url: string;
  /** Opens the console. The code in it is valid until the inspector is closed. */
  readonly consoleUrl: string;
  close(): Promise<void>;
}

const MAX_BODY = 16_000_000;
const TIMEOUTS = { head: 15_000, whole: 60_000 };

/**
 * Serves the console on this machine for an agent that runs anywhere, in any version. Requests of the page go through this process: to the agent's own
 * host, and to public addresses that its card names, but to no other address of an internal network. Throws a {@link StartupError}.
 */
export async function inspectAgent({ agent, port = 0, allow = [] }: InspectOptions): Promise<Inspector> {
  const url = URL.parse(agent);
  if (url === null || !/^https?:$/.test(url.protocol))
    throw new StartupError("usage", `${agent} is not the URL of an agent.\nUse for example http://127.0.0.1:3000`);
  if (url.username !== "" || url.password !== "")
    throw new StartupError("usage", "The URL of an agent must not contain a user or a password.");
  const outgoing = createOutgoing({
    http: url.protocol === "http:",
    allow: [...namesOf(url), ...allow],
    // A stream may take hours.
    timeout: Number.POSITIVE_INFINITY,
    maxBytes: Number.POSITIVE_INFINITY,
  });
  const sessions = createConsoleSessions({ secret: randomBytes(32).toString("base64url") });
  const pages = createBrowserPages({ files: createConsoleLoader(), agents: [], isRemote: false, inspects: url.href });
  const paths = createForwardPath({
    sessions,
    version: packageVersion(),
    agent: url.href,
    forward: async ({ url: target, body, ...request }) =>
      outgoing.fetch(outgoing.check(target), { ...request, redirect: "follow", ...(body !== undefined && { body }) }),
  });
  const environment: TransportEnvironment = {
    authenticate: undefined,
    remoteOf: ({ remote }) => remote,
    hooks: {},
    maxBodyBytes: MAX_BODY,
    bodyMemory: new BodyMemory({ total: 4 * MAX_BODY, perAddress: 4 * MAX_BODY }),
    logger: SILENT_LOGGER,
  };
  const handle = async (exchange: Exchange): Promise<Reply> => {
    if (paths.accepts(exchange)) return paths.handle(exchange, environment);
    return pages.answer(exchange) ?? plainPage(404, "This page does not exist. Open /console/");
  };
  const handlers = { http1: createNodeHandler(handle), http2: createHttp2Handler(handle) };
  const listener = new Listener(forLocalNames(handlers), TIMEOUTS);
  const at = await listener.listen("127.0.0.1", port);
  return {
    url: at.url,
    consoleUrl: `${at.url}/console/#${sessions.code}`,
    async close() {
      await listener.close();
      outgoing.close();
    },
  };
}

/** The agent's host with its port. A program on this machine may name itself in several ways. */
function namesOf({ hostname, port, protocol }: URL): readonly string[] {
  const number = port === "" ? (protocol === "https:" ? "443" : "80") : port;
  const isHere = /^(?:localhost|127(?:\.\d+){3}|\[::1\])$/.test(hostname);
  const names = isHere ? ["localhost", "127.0.0.1", "[::1]"] : [hostname];
  return names.map((name) => `${name}:${number}`);
}
