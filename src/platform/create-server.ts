import type { IncomingMessage, ServerResponse } from "node:http";
import type { Agent } from "../engine/agent/agent.ts";
import { A2AError } from "../protocol/error.ts";
import type { DeadLetter, DeadLetterRef, DeadLettersQuery } from "../push/contract.ts";
import { checkDeclarations } from "./agents/check-declarations.ts";
import { checkExposure } from "./agents/check-exposure.ts";
import { createLogger, logLevelFrom } from "./create-logger.ts";
import { isWildcard, urlOf } from "./listen-url.ts";
import { Listener, type ListeningAt } from "./listener.ts";
import { grpcLoader } from "./load-grpc.ts";
import { forLocalNames, isLoopback } from "./local-names.ts";
import { requireClientCertificates, securityFrom } from "./security/security-settings.ts";
import { type ServerOptions, settingsFrom } from "./settings/settings.ts";
import { type Started, startServer } from "./start-server.ts";
import { StartupError } from "./startup-error.ts";

/** A server of agents. It works from the moment it is created: unfinished tasks of an earlier process continue. */
export interface Server {
  /** Answers a web-standard `Request`. Mount it into any framework that supports those. */
  readonly fetch: (request: Request) => Promise<Response>;
  /** Answers a `node:http` request. */
  readonly nodeHandler: (request: IncomingMessage, response: ServerResponse) => void;
  /** Listens on `host` and `port`. Rejects with a {@link StartupError} if the port is not available or the server could not start. */
  listen(): Promise<Listening>;
  /** Webhook deliveries that failed after all retries, newest first. Empty if webhooks are not supported. */
  deadLetters(query?: DeadLettersQuery): Promise<readonly DeadLetter[]>;
  /**
   * Restarts a failed delivery, from the first event that the webhook did not receive. `letter` is one of `deadLetters()`. Rejects with
   * `task-not-found` if it no longer exists, and with `push-not-supported` if webhooks are not supported.
   */
  redeliver(letter: DeadLetterRef): Promise<void>;
  /** Rejects new work, lets running tasks continue for `drainTimeout`, and closes everything. Safe to call repeatedly. */
  readonly close: () => Promise<void>;
}

/** The addresses of a listening server. */
export interface Listening extends ListeningAt {
  /** The URL in agent cards, without a trailing slash. Requests through a trusted proxy may see another one. */
  readonly publicUrl: string;
  /** Where data is stored, as text for people. */
  readonly storage: string;
  /** Whether gRPC is served on the same port. */
  readonly grpc: boolean;
  /** Opens the console on this machine. The code in it is valid until the server stops. Absent: the console is turned off. */
  readonly consoleUrl?: string;
}

/**
 * Creates a server. Throws a {@link StartupError} for invalid options, and for agents whose cards declare features that this server does not
 * have. Other problems, such as a store that cannot be opened, reject `listen()`.
 */
export function createServer(agents: Agent | readonly Agent[], options: ServerOptions = {}): Server {
  const served = agentsFrom(agents);
  const settings = settingsFrom(options);
  const security = securityFrom(options);
  const authenticates = security !== undefined || options.authenticate !== undefined;
  checkDeclarations(served, {
    dialects: settings.dialects,
    grpc: settings.grpc,
    authenticates,
    security,
    pushes: settings.push !== undefined,
  });
  checkExposure(served, { ...settings, authenticates: options.authenticate !== undefined, security });
  const logger = options.logger ?? createLogger({ level: logLevelFrom(), pretty: process.stderr.isTTY });

  let running: Started | undefined;
  let isFailureLogged = false;
  let listener: Listener | undefined;
  let closing: Promise<void> | undefined;
  // For servers that are mounted in another application and never listen themselves.
  const configuredUrl = urlOf(settings.host, settings.port, settings.tls === undefined ? "http" : "https");
  const publicUrl = settings.publicUrl ?? (() => listener?.url ?? configuredUrl);
  const started = startServer({ agents: served, options, settings, security, publicUrl, logger });
  started.then(
    (result) => {
      running = result;
    },
    // Reported by `listen`, or at the first request.
    () => {},
  );

  const stop = async (drainTimeout: number): Promise<void> => {
    const server = await started.catch(() => undefined);
    if (server === undefined) return;
    if (listener?.url !== undefined)
      logger.info("Stopping: new work is rejected, running tasks may finish", { drainTimeout });
    await server.drain(drainTimeout, options.drainTimeout === undefined);
    await listener?.close();
    await server.close();
  };
  const refuse = (error: unknown): string => {
    if (!isFailureLogged) logger.error("Requests are refused: the server could not start", { error });
    isFailureLogged = true;
    return '{"error":{"code":503,"status":"UNAVAILABLE","message":"The server could not start"}}';
  };
  return {
    fetch: async (request) => {
      try {
        const { http } = running ?? (await started);
        return await http.fetch(request);
      } catch (error) {
        return new Response(refuse(error), { status: 503, headers: JSON_TYPE });
      }
    },
    nodeHandler: (request, response) => {
      if (running !== undefined) running.http.nodeHandler(request, response);
      else {
        started.then(
          ({ http }) => http.nodeHandler(request, response),
          (error: unknown) => response.writeHead(503, JSON_TYPE).end(refuse(error)),
        );
      }
    },
    async listen() {
      const { http, storage, listening, consoleCode } = await started;
      const grpc = settings.grpc ? grpcLoader(settings.dialects, logger) : undefined;
      if (closing !== undefined) throw new StartupError("usage", "The server is closed: it cannot listen.");
      if (listener !== undefined) throw new StartupError("usage", "The server is already listening.");
      requireClientCertificates(security, settings.tls);
      const isNamed = settings.publicUrl !== undefined || settings.trustedProxies.length > 0;
      const isOpenHere = !authenticates && !isNamed && isLoopback(settings.host);
      if (grpc !== undefined) http.serveGrpc(grpc);
      const handlers = { http1: http.nodeHandler, http2: http.http2Handler };
      listener = new Listener(isOpenHere ? forLocalNames(handlers) : handlers, settings.timeouts, settings.tls);
      try {
        const at = await listener.listen(settings.host, settings.port);
        listening(at.url);
        if (settings.publicUrl === undefined && settings.trustedProxies.length === 0 && isWildcard(settings.host)) {
          logger.warn("Agent cards state an address that only this machine can reach: set the public URL", {
            url: at.url,
          });
        }
        if (!authenticates && !isLoopback(settings.host)) {
          logger.warn(
            "Anyone who can reach this server may call its agents: set `security` or `--api-keys` to require authentication",
            {
              url: at.url,
            },
          );
        }
        return {
          ...at,
          publicUrl: settings.publicUrl ?? at.url,
          storage,
          grpc: grpc !== undefined,
          ...(consoleCode !== undefined && { consoleUrl: `${at.url}/console/#${consoleCode}` }),
        };
      } catch (error) {
        closing = stop(0);
        await closing;
        throw error;
      }
    },
    async deadLetters(query) {
      const { deadLetters } = running ?? (await started);
      return deadLetters?.list(query) ?? [];
    },
    async redeliver(letter) {
      const { deadLetters } = running ?? (await started);
      if (deadLetters === undefined) throw new A2AError("push-not-supported", "This server does not support webhooks");
      await deadLetters.redeliver(letter);
    },
    close: () => {
      closing ??= stop(settings.drainTimeout).catch((error: unknown) => {
        logger.error("Not everything could be closed", { error });
        throw error;
      });
      return closing;
    },
  };
}

/** For answers before the server has started, which no codec writes. */
const JSON_TYPE = { "content-type": "application/json", "x-content-type-options": "nosniff" };

/** Throws a {@link StartupError} for an empty list and for two agents with the same id, which would have the same URL. */
function agentsFrom(agents: Agent | readonly Agent[]): readonly Agent[] {
  const list = "id" in agents ? [agents] : agents;
  if (list.length === 0) throw new StartupError("usage", "No agent is given. Pass at least one.");
  const seen = new Set<string>();
  for (const { id, name } of list) {
    if (seen.has(id)) {
      throw new StartupError(
        "usage",
        `Two agents have the id ${JSON.stringify(id)} (one is “${name}”).\nGive one of them another id: agent({ id, … })`,
      );
    }
    seen.add(id);
  }
  return list;
}
