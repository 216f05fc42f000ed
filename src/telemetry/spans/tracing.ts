import type { TraceContext } from "../../protocol/trace-context.ts";
import type { Span, Telemetry } from "../contract.ts";
import { ownedBy } from "../telemetry-of.ts";
import { ARTIFACT_EVENT, ATTRIBUTE, bindingName, METHODS, STATUS_EVENT, stateName, UNKNOWN_METHOD } from "./names.ts";
import type { OpenSpan, SpanOutcome, StartSpan } from "./span-factory.ts";
import { attemptSpan, deliverySpan, stepSpan, waitSpan } from "./task-spans.ts";

/** Turns what a server or a client does into spans. Message contents, credentials and error texts are in none of them. */
export function createTracing(start: StartSpan): Telemetry {
  /** A span as callers of the interface see it. `outcome` describes how it ended. */
  class Traced<End> implements Span<End> {
    readonly open: OpenSpan;
    readonly #outcome: (end: End) => SpanOutcome;
    #trace: TraceContext | undefined;
    constructor(open: OpenSpan, outcome: (end: End) => SpanOutcome) {
      this.open = open;
      this.#outcome = outcome;
    }
    get trace(): TraceContext {
      this.#trace ??= ownedBy(this.open.trace, telemetry);
      return this.#trace;
    }
    end(end: End): void {
      this.open.end(this.#outcome(end));
    }
  }
  class TracedAttempt extends Traced<{ readonly outcome: string }> {
    event(seq: number, state: Parameters<typeof stateName>[0] | undefined): void {
      if (state === undefined) this.open.event(ARTIFACT_EVENT, { [ATTRIBUTE.seq]: seq });
      else this.open.event(STATUS_EVENT, { [ATTRIBUTE.seq]: seq, [ATTRIBUTE.taskState]: stateName(state) });
    }
  }

  const telemetry: Telemetry = {
    call: ({ agent, trace }) =>
      new Traced(
        start({
          ...{ parent: trace, name: UNKNOWN_METHOD, kind: "server", isStoredFirst: true },
          attributes: { [ATTRIBUTE.agentId]: agent },
        }),
        ({ operation, dialect, taskId, error }) => {
          const method = operation === undefined ? undefined : METHODS[operation];
          const [version] = dialect.split("/");
          return {
            ...(method !== undefined && { name: method }),
            attributes: {
              [ATTRIBUTE.method]: method,
              [ATTRIBUTE.protocolVersion]: version,
              [ATTRIBUTE.protocolBinding]: bindingName(dialect),
              [ATTRIBUTE.taskId]: taskId,
              [ATTRIBUTE.errorType]: error,
            },
            // An error that the caller caused is no failure of the server.
            failed: error === "internal",
          };
        },
      ),
    attempt: (attempt) =>
      new TracedAttempt(start(attemptSpan(attempt)), ({ outcome }) => ({
        attributes: { [ATTRIBUTE.outcome]: outcome },
        failed: outcome === "failed",
      })),
    step: (step) => new Traced(start(stepSpan(step)), ({ error }) => failure(error)),
    wait: (wait) =>
      new Traced(start(waitSpan(wait)), ({ outcome }) => ({ attributes: { [ATTRIBUTE.outcome]: outcome } })),
    delivery: (delivery) =>
      new Traced(start(deliverySpan(delivery)), ({ outcome, httpStatus }) => ({
        attributes: { [ATTRIBUTE.outcome]: outcome, [ATTRIBUTE.httpStatus]: httpStatus },
        failed: outcome !== "delivered",
      })),
    request({ url, operation, trace }) {
      const { hostname, port, protocol } = new URL(url);
      const attributes = {
        [ATTRIBUTE.method]: METHODS[operation],
        [ATTRIBUTE.serverAddress]: hostname,
        [ATTRIBUTE.serverPort]: Number(port) || (protocol === "https:" ? 443 : 80),
      };
      return new Traced(
        start({ parent: trace, name: METHODS[operation], kind: "client", attributes }),
        ({ httpStatus, error }) => {
          const ended = failure(error);
          return {
            attributes: { ...ended.attributes, [ATTRIBUTE.httpStatus]: httpStatus },
            failed: ended.failed === true || (httpStatus ?? 0) >= 400,
          };
        },
      );
    },
  };
  return telemetry;
}

/** The text of an error may contain anything: only its kind is recorded. */
function failure(error: unknown): SpanOutcome {
  if (error === undefined) return {};
  return { attributes: { [ATTRIBUTE.errorType]: errorType(error) }, failed: true };
}

function errorType(error: unknown): string {
  if (!(error instanceof Error)) return "_OTHER";
  const code = "code" in error ? error.code : undefined;
  return typeof code === "string" && /^[\w.-]{1,64}$/.test(code) ? code : error.constructor.name;
}
