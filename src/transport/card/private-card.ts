import { type A2AError, toA2AError } from "../../protocol/error.ts";
import { ANONYMOUS } from "../../protocol/principal.ts";
import { authorizeReader } from "../../server/authorize.ts";
import type { Service } from "../../server/service.ts";
import { auditEntry } from "../audit.ts";
import { authenticateExchange } from "../authentication.ts";
import { challengesOf } from "../challenges.ts";
import type { Exchange, FullReply } from "../exchange.ts";
import type { TransportEnvironment } from "../options.ts";
import type { Refuse } from "../router.ts";
import { traceOf } from "../trace-of.ts";
import { type CardSource, serveCard } from "./card-route.ts";

export interface CardReader {
  readonly exchange: Exchange;
  readonly environment: TransportEnvironment;
  /** Writes an error in the format that card readers expect. */
  readonly refuse: Refuse;
}

/** Serves the card to callers who may call the agent. Only the caller's own cache may keep it. */
export async function servePrivateCard(source: CardSource, service: Service, reader: CardReader): Promise<FullReply> {
  const { exchange, environment, refuse } = reader;
  const record = {
    agent: service.agent.id,
    operation: "card",
    remote: environment.remoteOf(exchange),
    trace: traceOf(exchange),
    tenant: undefined,
    taskId: undefined,
  } as const;
  let principal = ANONYMOUS;
  const startedAt = performance.now();
  const report = (error?: A2AError): void =>
    environment.reportCall?.({
      ...{ agent: record.agent, operation: "card", dialect: undefined, principal, remote: record.remote },
      ...{ taskId: undefined, traceId: record.trace?.traceId, error, durationMs: performance.now() - startedAt },
    });
  try {
    principal = await authenticateExchange(exchange, service.agent.id, environment);
    authorizeReader(service, principal);
    const card = await serveCard(source, service, exchange);
    environment.audit?.(auditEntry({ ...record, principal, outcome: "ok" }));
    report();
    return card;
  } catch (thrown) {
    const error = toA2AError(thrown);
    environment.audit?.(auditEntry({ ...record, principal, outcome: error.code }));
    report(error);
    const challenges = challengesOf(error);
    const reply = refuse(exchange, error);
    return {
      ...reply,
      headers: {
        ...reply.headers,
        "cache-control": "private, no-store",
        ...(challenges !== undefined && { "www-authenticate": challenges }),
        ...(error.code === "unavailable" && { "retry-after": String(Math.ceil(error.retryAfter ?? 5)) }),
      },
    };
  }
}
