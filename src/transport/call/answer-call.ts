import type { A2AError } from "../../protocol/error.ts";
import type { OperationResult } from "../../protocol/operation.ts";
import type { TaskStream } from "../../server/task-stream.ts";
import { auditEntry, taskIdOf } from "../audit.ts";
import type { Endpoint } from "../endpoint.ts";
import type { PullSource, Reply, StreamReply } from "../exchange.ts";
import { recordCall } from "../record-call.ts";
import type { OpenStream, StreamPlace } from "../streams/stream-registry.ts";
import { type CallReader, callError, serveCall } from "./serve-call.ts";
import type { ServedCall } from "./served-call.ts";

/**
 * How one binding reads requests and writes replies. Stateless: everything about one call is in its {@link ServedCall}. `result` and
 * `stream` may throw an `A2AError`, which is then answered by `error`.
 */
export interface Presenter<S extends ServedCall> extends CallReader<S> {
  result(endpoint: Endpoint, call: S, result: OperationResult): Reply | Promise<Reply>;
  stream(endpoint: Endpoint, call: S, stream: PresentedStream): OpenStreamReply;
  error(call: S, error: A2AError): Reply;
}

/** A stream to be written to the caller. */
export interface PresentedStream {
  readonly stream: TaskStream;
  /** Must be called once, when nothing more will be sent; with an error if the stream failed. */
  readonly ended: (source: OpenStream, error: A2AError | undefined) => void;
}

/** A reply whose source ends when the server shuts down, and can send heartbeats. */
export interface OpenStreamReply extends StreamReply {
  readonly source: PullSource & OpenStream;
}

/** Serves one call and presents its outcome in the call's binding. Never rejects. */
export async function answerCall<S extends ServedCall>(
  endpoint: Endpoint,
  call: S,
  presenter: Presenter<S>,
): Promise<Reply> {
  const { telemetry } = endpoint.environment;
  if (telemetry?.call !== undefined)
    call.span = telemetry.call({ agent: call.service.agent.id, dialect: call.dialect, trace: call.sentTrace });
  const outcome = await serveCall(endpoint, call, presenter);
  let error: A2AError;
  if (outcome.kind === "error") error = outcome.error;
  else {
    try {
      if (outcome.kind === "stream") return openStream(endpoint, call, { presenter, ...outcome });
      const presented = presenter.result(endpoint, call, outcome.result);
      const reply = presented instanceof Promise ? await presented : presented;
      audit(endpoint, call, { result: outcome.result });
      report(endpoint, call, { result: outcome.result });
      return reply;
    } catch (thrown) {
      if (outcome.kind === "stream") outcome.place?.release();
      error = callError(call, thrown);
    }
  }
  report(endpoint, call, { error });
  audit(endpoint, call, { error });
  return presenter.error(call, error);
}

interface StreamOutcome<S extends ServedCall> {
  readonly presenter: Presenter<S>;
  readonly stream: TaskStream;
  readonly place: StreamPlace | undefined;
}

function openStream<S extends ServedCall>(endpoint: Endpoint, call: S, outcome: StreamOutcome<S>): Reply {
  const { streams } = endpoint;
  const { presenter, stream, place } = outcome;
  const reply = presenter.stream(endpoint, call, {
    stream,
    ended: (source, error) => {
      streams.remove(source);
      place?.release();
      report(endpoint, call, { result: stream, ...(error !== undefined && { error }) });
    },
  });
  streams.add(reply.source);
  audit(endpoint, call, { result: stream });
  return reply;
}

/** For bindings that do not use {@link answerCall}: reports a call that has been answered, and writes it to the audit log. */
export function recordAnswer(endpoint: Endpoint, call: ServedCall, answered: Answered): void {
  report(endpoint, call, answered);
  audit(endpoint, call, answered);
}

interface Answered {
  readonly result?: OperationResult | TaskStream;
  readonly error?: A2AError;
}

function audit({ environment }: Endpoint, call: ServedCall, { result, error }: Answered): void {
  if (environment.audit === undefined) return;
  const { service, exchange, principal, operation, request, dialect, trace } = call;
  environment.audit(
    auditEntry({
      principal,
      agent: service.agent.id,
      operation,
      tenant: principal.tenant ?? request?.tenant,
      taskId: taskIdOf(request, result),
      dialect,
      remote: environment.remoteOf(exchange),
      outcome: error?.code ?? "ok",
      trace,
    }),
  );
}

function report({ environment }: Endpoint, call: ServedCall, { result, error }: Answered): void {
  const { service, principal, operation, dialect, startedAt, request, span } = call;
  span?.end({
    agent: service.agent.id,
    operation,
    dialect,
    principal,
    taskId: taskIdOf(request, result),
    error: error?.code,
    durationMs: performance.now() - startedAt,
  });
  environment.reportCall?.({
    agent: service.agent.id,
    operation,
    dialect,
    principal,
    remote: environment.remoteOf(call.exchange),
    taskId: taskIdOf(request, result),
    traceId: call.trace?.traceId,
    error,
    durationMs: performance.now() - startedAt,
  });
  if (error === undefined && environment.hooks.on?.call === undefined) return;
  recordCall(environment, {
    agent: service.agent.id,
    dialect,
    principal,
    operation,
    trace: call.trace,
    startedAt,
    error,
  });
}
