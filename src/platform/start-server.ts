import { randomUUID } from "node:crypto";
import { createSigner } from "../auth/create-signer.ts";
import type { Bus } from "../bus/contract.ts";
import { createMemoryBus } from "../bus/memory/bus.ts";
import type { Agent, CallLimits } from "../engine/agent/agent.ts";
import { createEngine } from "../engine/engine.ts";
import type { RunningEngine } from "../engine/engine-options.ts";
import { NodeLease } from "../engine/record/node-lease.ts";
import { createClock } from "../internal/clock.ts";
import type { Logger } from "../internal/logger.ts";
import type { DeadLetter, DeadLetterRef, DeadLettersQuery } from "../push/contract.ts";
import { createNotificationSigner } from "../push/notification-signer.ts";
import type { Security } from "../server/security.ts";
import { StoreError } from "../store/contract.ts";
import { combineTelemetry } from "../telemetry/combine.ts";
import { createHttpHandler, type HttpHandler } from "../transport/http-handler.ts";
import type { McpSettings } from "../transport/mcp/contract.ts";
import { DEFAULT_MAX_STREAMS } from "../transport/options.ts";
import { openCalls } from "./calls/open-calls.ts";
import { openConsole } from "./console/open-console.ts";
import { guardedUrlTools, mcpFaceSettings } from "./mcp-face.ts";
import { observeServer } from "./observe/observe-server.ts";
import { operatorFileOf, operatorToken, writeOperatorFile } from "./observe/operator-file.ts";
import { createServerPaths } from "./observe/server-paths.ts";
import { openStore } from "./open-store.ts";
import type { OpenStore } from "./opened-store.ts";
import { openAuditLog } from "./security/audit-log.ts";
import { openSigningKeys, signingFileOf } from "./security/signing-keys.ts";
import { limitSettingsFrom } from "./settings/limit-settings.ts";
import { serverIdFrom } from "./settings/server-id.ts";
import type { ServerOptions, Settings } from "./settings/settings.ts";
import { createServerPush } from "./start-push.ts";
import { messageOf, StartupError } from "./startup-error.ts";
import { spanFileOf, startTracing } from "./tracing/start-tracing.ts";

/** The options as given (`options`), and as `settingsFrom` has validated them (`settings`). */
export interface StartOptions {
  readonly agents: readonly Agent[];
  readonly options: ServerOptions;
  readonly settings: Settings;
  readonly security: Security | undefined;
  /** A function if the URL is known only once the server listens. Trusted proxies may override it. */
  readonly publicUrl: string | (() => string);
  readonly logger: Logger;
}

/** The running parts of a server. */
export interface Started {
  readonly http: HttpHandler;
  /** How agents are served over MCP. Absent: they are not. */
  readonly mcp: McpSettings | undefined;
  /** Where data is stored, as text for people. */
  readonly storage: string;
  /** The server listens at this URL. Programs on this machine find it in the operator file. */
  listening(url: string): void;
  /** Opens the console; in the fragment of its URL. Absent: the console is turned off. */
  readonly consoleCode: string | undefined;
  /** Rejects new work. Resolves when no task runs any more, at the latest after this many milliseconds, and all streams were asked to reconnect. */
  drain(timeoutMs: number, handsOver?: boolean): Promise<void>;
  /** Absent if webhooks are not supported. */
  readonly deadLetters: DeadLetterApi | undefined;
  close(): Promise<void>;
}

/** Webhook deliveries that failed after all retries. */
export interface DeadLetterApi {
  list(query?: DeadLettersQuery): Promise<readonly DeadLetter[]>;
  redeliver(letter: DeadLetterRef): Promise<void>;
}

/** Milliseconds: with one process per store, nobody waits for the end of a lease. */
const DEFAULT_LEASE = 30_000;
/** Milliseconds for deliveries in progress when the server stops. */
const LAST_DELIVERIES = 2000;

/** Creates and connects the parts of a server. Rejects with a {@link StartupError}. */
export async function startServer(start: StartOptions): Promise<Started> {
  const { agents, options, settings, security, publicUrl, logger } = start;
  const { engineLimits, transportLimits } = limitSettingsFrom(options);
  const audit = openAuditLog(options.audit, logger);
  const opened = await openStore(settings.store, options).catch(explain);
  const clock = createClock();
  const node = randomUUID();
  const observed = observeServer({ settings: settings.observe, agents: agents.map(({ id }) => id), node, logger });
  const serverId = options.serverId ?? serverIdFrom(opened.secret);
  const createBus = await chooseBus(options.bus, opened, serverId).catch(async (error: unknown) => {
    await opened.close();
    return explain(error);
  });
  const bus = observed.bus(createBus(logger));
  const { on, transform, authenticate, cancelGrace, lease: duration = opened.lease } = options;
  const lease = new NodeLease(duration ?? DEFAULT_LEASE, clock);
  const tracing = await startTracing({ otlp: options.otlp, spanFile: spanFileOf(settings.store), logger });
  const store = observed.store(tracing === undefined ? opened.store : tracing.store(opened.store));
  const telemetry = combineTelemetry([tracing?.telemetry, options.telemetry]);
  const onFatal = (error: unknown): void => {
    logger.error("The store failed, and only a restart can show what was written: stopping", { error });
    if (options.onFatal !== undefined) options.onFatal(error);
    else process.exit(1);
  };
  const release = async (): Promise<void> => {
    observed.close();
    await bus.close();
    await opened.close();
    await tracing?.close();
    await audit?.close();
  };
  try {
    const operator = openOperatorAccess(settings);
    const console = openConsole({ settings, agents, operatorToken: operator?.token, security });
    const hooks = observed.push(on === undefined ? {} : { on });
    const keys = openSigningKeys({ file: signingFileOf(settings.store), shared: opened.signingKeys, logger });
    const signer = createSigner(keys);
    const cards = options.signCards === true ? signer : undefined;
    const push =
      settings.push === undefined
        ? undefined
        : createServerPush({
            ...{ opened: { ...opened, store }, bus, clock, node, lease, logger, hooks, telemetry, onFatal },
            agents: agents.map(({ id }) => id),
            checked: settings.push,
            outgoing: settings.outgoing,
            dialects: settings.dialects,
            signer: createNotificationSigner(signer, () => (typeof publicUrl === "string" ? publicUrl : publicUrl())),
          });
    const calls = openCalls({
      ...{ agents, serverId, keys, security, logger, options: settings.calls, outgoing: settings.outgoing },
      secret: opened.secret,
      engine: () => engine,
    });
    const engine: RunningEngine = createEngine({
      agents: [...agents, ...calls.internalAgents],
      callees: calls.callees,
      callLimits: callLimitsIn(settings),
      onCall: observed.metrics?.called,
      onUsage: observed.metrics?.used,
      clock,
      node,
      store,
      bus,
      secret: opened.secret,
      serverId,
      hooks: { ...(on !== undefined && { on }), ...(transform !== undefined && { transform }) },
      limits: engineLimits,
      logger,
      telemetry,
      onFatal,
      ...(cancelGrace !== undefined && { cancelGrace }),
      lease,
    });
    const reserved = createServerPaths({
      ...{ settings: settings.observe, registry: observed.metrics?.registry, agents, engine, push, security, node },
      operatorToken: operator?.token,
      sessions: console?.sessions,
      store: opened.store,
      openStreams: () => http.openStreams,
      limits: {
        live: engineLimits.maxLiveTasks,
        subscribers: engineLimits.maxSubscribers,
        streams: transportLimits.maxStreams ?? DEFAULT_MAX_STREAMS,
      },
    });
    const mcp =
      settings.mcp &&
      mcpFaceSettings({
        settings: settings.mcp,
        secret: opened.secret,
        maxAge: options.retention?.maxAge,
        urlTools: () => guardedUrlTools(settings.outgoing),
      });
    const http: HttpHandler = createHttpHandler({
      agents,
      mcp,
      engine,
      push: push?.configs,
      publicUrl,
      trustedProxies: settings.trustedProxies,
      corsOrigins: settings.corsOrigins,
      dialects: settings.dialects,
      hooks: on === undefined ? {} : { on },
      limits: transportLimits,
      rateLimit: settings.rateLimit,
      idempotencyWindow: settings.idempotencyWindow,
      answerByContext: options.answerByContext,
      serverId,
      ancestry: calls.rules,
      heartbeatMs: settings.heartbeat,
      logger,
      security,
      signing: push === undefined && cards === undefined ? undefined : { keys, cards },
      audit: audit?.record,
      telemetry,
      reportCall: observed.reportCall,
      onAddressLimit: () => observed.metrics?.rateLimited("address"),
      reserved,
      pages: console?.pages,
      ...(authenticate !== undefined && { authenticate }),
    });
    await observed.addParts({
      store: opened.store,
      counts: () => engine.counts(),
      webhooks: push && (() => push.counts()),
      openStreams: () => http.openStreams,
    });
    for (const agent of agents) await agent.open?.(logger);
    await engine.start();
    push?.start();
    return {
      http,
      mcp,
      storage: opened.storage,
      listening: (url) => operator?.listening(url),
      consoleCode: console?.sessions.code,
      deadLetters: push?.deadLetters,
      async drain(timeoutMs, handsOver) {
        await engine.drain(timeoutMs, handsOver);
        await push?.drain(Math.min(timeoutMs, LAST_DELIVERIES));
        http.closeStreams();
      },
      async close() {
        await push?.drain(0);
        await engine.close();
        try {
          await Promise.all(agents.map(async (agent) => agent.close?.()));
          calls.close();
        } finally {
          // The store must be closed also if an agent fails to close.
          await release();
        }
      },
    };
  } catch (error) {
    await release();
    return explain(error);
  }
}

function callLimitsIn({ calls: { trust: _trust, ...limits } }: Settings): Partial<CallLimits> {
  return limits;
}

/** The bus that the options name, else that of the store. A store of one process needs none. */
async function chooseBus(spec: string | undefined, opened: OpenStore, name: string): Promise<(logger: Logger) => Bus> {
  if (spec === undefined) return opened.createBus ?? (() => createMemoryBus());
  if (!spec.startsWith("nats:") && !spec.startsWith("tls:"))
    throw new StartupError("usage", `The bus must be nats://…, not ${JSON.stringify(spec)}.`);
  if (opened.createBus === undefined)
    throw new StartupError("usage", "A bus connects nodes that share a store: it needs --store postgres://…");
  // Loads the driver only if it is used.
  const { openNats } = await import("./open-nats.ts");
  return openNats(spec, name);
}

interface LocalOperator {
  readonly token: string;
  listening(url: string): void;
}

/** The token for programs on this machine, from the options or from the file beside the store. */
function openOperatorAccess({ observe, store }: Settings): LocalOperator | undefined {
  if (observe.operator === undefined) return undefined;
  if (observe.operator.token !== undefined) return { token: observe.operator.token, listening: () => {} };
  const file = operatorFileOf(store);
  if (file === undefined) return undefined;
  const token = operatorToken(file);
  return { token, listening: (url) => writeOperatorFile(file, { token, url, pid: process.pid }) };
}

/** Store errors already say what to do. */
function explain(error: unknown): never {
  if (error instanceof StartupError) throw error;
  if (error instanceof StoreError && error.code === "unusable")
    throw new StartupError("failed", error.message, { cause: error });
  throw new StartupError("failed", `The server could not start: ${messageOf(error)}`, { cause: error });
}
