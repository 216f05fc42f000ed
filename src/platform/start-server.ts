import { randomUUID } from "node:crypto";
import { createSigner } from "../auth/create-signer.ts";
import { createMemoryBus } from "../bus/memory/bus.ts";
import type { Agent } from "../engine/agent/agent.ts";
import { createEngine } from "../engine/engine.ts";
import { createClock } from "../internal/clock.ts";
import type { Logger } from "../internal/logger.ts";
import type { DeadLetter, DeadLetterRef, DeadLettersQuery } from "../push/contract.ts";
import { createNotificationSigner } from "../push/notification-signer.ts";
import type { Security } from "../server/security.ts";
import { StoreError } from "../store/contract.ts";
import { createHttpHandler, type HttpHandler } from "../transport/http-handler.ts";
import { openStore } from "./open-store.ts";
import { openAuditLog } from "./security/audit-log.ts";
import { openSigningKeys, signingFileOf } from "./security/signing-keys.ts";
import { limitSettingsFrom } from "./settings/limit-settings.ts";
import { serverIdFrom } from "./settings/server-id.ts";
import type { ServerOptions, Settings } from "./settings/settings.ts";
import { createServerPush } from "./start-push.ts";
import { messageOf, StartupError } from "./startup-error.ts";

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
  /** Where data is stored, as text for people. */
  readonly storage: string;
  /** Rejects new work. Resolves when no task runs any more, at the latest after this many milliseconds, and all streams were asked to reconnect. */
  drain(timeoutMs: number): Promise<void>;
  /** Absent if webhooks are not supported. */
  readonly deadLetters: DeadLetterBox | undefined;
  close(): Promise<void>;
}

/** Webhook deliveries that failed after all retries. */
export interface DeadLetterBox {
  list(query?: DeadLettersQuery): Promise<readonly DeadLetter[]>;
  redeliver(letter: DeadLetterRef): Promise<void>;
}

/** Milliseconds for deliveries in progress when the server stops. */
const LAST_DELIVERIES = 2000;

/** Creates and connects the parts of a server. Rejects with a {@link StartupError}. */
export async function startServer(start: StartOptions): Promise<Started> {
  const { agents, options, settings, security, publicUrl, logger } = start;
  const { engineLimits, transportLimits } = limitSettingsFrom(options);
  const audit = openAuditLog(options.audit, logger);
  const opened = await openStore(settings.store, options).catch(explain);
  const bus = createMemoryBus();
  const clock = createClock();
  const node = randomUUID();
  const serverId = options.serverId ?? serverIdFrom(opened.secret);
  const { on, transform, authenticate, cancelGrace, lease } = options;
  const onFatal = (error: unknown): void => {
    logger.error("The store failed, and only a restart can show what was written: stopping", { error });
    if (options.onFatal !== undefined) options.onFatal(error);
    else process.exit(1);
  };
  const release = async (): Promise<void> => {
    await bus.close();
    await opened.close();
    await audit?.close();
  };
  try {
    const hooks = on === undefined ? {} : { on };
    const keys = openSigningKeys({ file: signingFileOf(settings.store), logger });
    const signer = createSigner(keys);
    const cards = options.signCards === true ? signer : undefined;
    const push =
      settings.push === undefined
        ? undefined
        : createServerPush({
            ...{ opened, bus, clock, node, logger, hooks, onFatal },
            checked: settings.push,
            outgoing: settings.outgoing,
            dialects: settings.dialects,
            signer: createNotificationSigner(signer, () => (typeof publicUrl === "string" ? publicUrl : publicUrl())),
          });
    const engine = createEngine({
      agents,
      clock,
      node,
      store: opened.store,
      bus,
      secret: opened.secret,
      serverId,
      hooks: { ...(on !== undefined && { on }), ...(transform !== undefined && { transform }) },
      limits: engineLimits,
      logger,
      onFatal,
      ...(cancelGrace !== undefined && { cancelGrace }),
      ...(lease !== undefined && { leaseMs: lease }),
    });
    const http = createHttpHandler({
      agents,
      engine,
      push: push?.configs,
      publicUrl,
      trustedProxies: settings.trustedProxies,
      corsOrigins: settings.corsOrigins,
      dialects: settings.dialects,
      requireDefaultProject: options.requireDefaultProject,
      hooks: on === undefined ? {} : { on },
      limits: transportLimits,
      rateLimit: settings.rateLimit,
      idempotencyWindow: settings.idempotencyWindow,
      answerByContext: options.answerByContext,
      serverId,
      heartbeatMs: settings.heartbeat,
      logger,
      security,
      signing: push === undefined && cards === undefined ? undefined : { keys, cards },
      audit: audit?.record,
      ...(authenticate !== undefined && { authenticate }),
    });
    await engine.start();
    push?.start();
    return {
      http,
      storage: opened.storage,
      deadLetters: push?.deadLetters,
      async drain(timeoutMs) {
        await engine.drain(timeoutMs);
        await push?.drain(Math.min(timeoutMs, LAST_DELIVERIES));
        http.closeStreams();
      },
      async close() {
        await push?.drain(0);
        await engine.close();
        await release();
      },
    };
  } catch (error) {
    await release();
    return explain(error);
  }
}

/** Store errors already say what to do. */
function explain(error: unknown): never {
  if (error instanceof StartupError) throw error;
  if (error instanceof StoreError && error.code === "unusable")
    throw new StartupError("failed", error.message, { cause: error });
  throw new StartupError("failed", `The server could not start: ${messageOf(error)}`, { cause: error });
}
