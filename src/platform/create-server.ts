import type { IncomingMessage, ServerResponse } from "node:http";
import type { Agent } from "../engine/agent/agent.ts";
import { A2AError } from "../protocol/error.ts";
import type { DeadLetter, DeadLetterRef, DeadLettersQuery } from "../push/contract.ts";
import { checkDeclarations } from "./agents/check-declarations.ts";
import { createLogger, logLevelFrom } from "./create-logger.ts";
import { isWildcard, urlOf } from "./listen-url.ts";
import { Listener, type ListeningAt } from "./listener.ts";
import { forLocalNames, isLoopback } from "./local-names.ts";
import { requireClientCertificates, securityFrom } from "./security/security-settings.ts";
import { type ServerOptions, settingsFrom } from "./settings/settings.ts";
import { type Started, startServer } from "./start-server.ts";
import { StartupError } from "./startup-error.ts";

/** Agents being served. It is at work from the moment it is created: what an earlier process left unfinished goes on. */
export interface Server {
  /** Answers a web-standard request. Mounts into anything that has those. */
  readonly fetch: (request: Request) => Promise<Response>;
  /** Answers a request of `node:http`. */
  readonly nodeHandler: (request: IncomingMessage, response: ServerResponse) => void;
  /** Listens on a port of its own. Rejects with a {@link StartupError} if it cannot, or if the server could not start. */
  listen(): Promise<Listening>;
  /** Deliveries to webhooks that were given up, newest first. Empty where nobody is notified. */
  deadLetters(query?: DeadLettersQuery): Promise<readonly DeadLetter[]>;
  /**
   * Has a webhook that was given up told again, from the first event on that it was not told. `letter` is one of `deadLetters()`. Rejects
   * with `task-not-found` if there is no such one.
   */
  redeliver(letter: DeadLetterRef): Promise<void>;
  /** Refuses new work, lets running tasks go on for `drainTimeout`, and closes everything. May be called again. */
  readonly close: () => Promise<void>;
}

/** What there is to say of a server that listens. */
export interface Listening extends ListeningAt {
  /** Where agent cards say it is, without a slash at the end; a trusted proxy may say otherwise. */
  readonly publicUrl: string;
  /** Where data is kept, for people. */
  readonly storage: string;
}

/**
 * Puts a server together. Throws a {@link StartupError} for options that make no sense, and for agents that declare what this server
 * does not do; the rest `listen` tells.
 */
export function createServer(agents: Agent | readonly Agent[], options: ServerOptions = {}): Server {
  const served = agentsFrom(agents);
  const settings = settingsFrom(options);
  const security = securityFrom(options);
  const authenticates = security !== undefined || options.authenticate !== undefined;
  checkDeclarations(served, {
    dialects: settings.dialects,
    authenticates,
    security,
    pushes: settings.push !== undefined,
  });
  const logger = options.logger ?? createLogger({ level: logLevelFrom(), pretty: process.stderr.isTTY });

  let running: Started | undefined;
  let failureTold = false;
  let listener: Listener | undefined;
  let closing: Promise<void> | undefined;
  const unheard = urlOf(settings.host, settings.port, settings.tls === undefined ? "http" : "https");
  const publicUrl = settings.publicUrl ?? (() => listener?.url ?? unheard);
  const started = startServer({ agents: served, options, settings, security, publicUrl, logger });
  started.then(
    (result) => {
      running = result;
    },
    // Told by `listen`, or at the first request.
    () => {},
  );

  const stop = async (drainTimeout: number): Promise<void> => {
    const server = await started.catch(() => undefined);
    if (server === undefined) return;
    if (listener?.url !== undefined)
      logger.info("Stopping: no new work is taken, running tasks may finish", { drainTimeout });
    await server.drain(drainTimeout);
    await listener?.close();
    await server.close();
  };
  const refuse = (error: unknown): string => {
    if (!failureTold) logger.error("Requests are refused: the server could not start", { error });
    failureTold = true;
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
      const { http, storage } = await started;
      if (closing !== undefined) throw new StartupError("usage", "The server is closed: it cannot listen.");
      if (listener !== undefined) throw new StartupError("usage", "The server listens already.");
      requireClientCertificates(security, settings.tls);
      const isNamed = settings.publicUrl !== undefined || settings.trustedProxies.length > 0;
      const isOpenHere = !authenticates && !isNamed && isLoopback(settings.host);
      const handler = isOpenHere ? forLocalNames(http.nodeHandler) : http.nodeHandler;
      listener = new Listener(handler, settings.timeouts, settings.tls);
      try {
        const at = await listener.listen(settings.host, settings.port);
        if (settings.publicUrl === undefined && settings.trustedProxies.length === 0 && isWildcard(settings.host)) {
          logger.warn("Agent cards say an address that only this machine reaches: give the public URL", {
            url: at.url,
          });
        }
        if (!authenticates && !isLoopback(settings.host)) {
          logger.warn("Everybody who reaches this server may call: say who may, by `security` or `--api-keys`", {
            url: at.url,
          });
        }
        return { ...at, publicUrl: settings.publicUrl ?? at.url, storage };
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
      if (deadLetters === undefined) throw new A2AError("push-not-supported", "This server notifies nobody");
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

const JSON_TYPE = { "content-type": "application/json", "x-content-type-options": "nosniff" };

function agentsFrom(agents: Agent | readonly Agent[]): readonly Agent[] {
  const list = "id" in agents ? [agents] : agents;
  if (list.length === 0) throw new StartupError("usage", "There is no agent to serve. Give at least one.");
  const seen = new Set<string>();
  for (const { id, name } of list) {
    if (seen.has(id)) {
      throw new StartupError(
        "usage",
        `Two agents have the id ${JSON.stringify(id)} (one is “${name}”).\nGive one of them another: agent({ id, … })`,
      );
    }
    seen.add(id);
  }
  return list;
}
