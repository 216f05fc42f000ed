import type { Operator } from "../../operator/operator.ts";
import { A2AError, toA2AError } from "../../protocol/error.ts";
import type { TaskId } from "../../protocol/ids.ts";
import { ANONYMOUS } from "../../protocol/principal.ts";
import { auditEntry } from "../audit.ts";
import { openSession } from "../console/open-session.ts";
import type { Headers, Reply } from "../exchange.ts";
import { traceOf } from "../trace-of.ts";
import { authenticateOperator, type OperatorAccess } from "./operator-access.ts";
import { errorReply, privateJson } from "./operator-reply.ts";
import { type AcceptedRequest, OPERATOR_ROUTES } from "./operator-routes.ts";
import type { ReservedPaths } from "./reserved-paths.ts";

const BASE = "/operator/v1";
/** Where a page of the console exchanges the code of the start-up URL for a session. */
const SESSIONS = `${BASE}/console-sessions`;

/** The operator API below `/operator/v1`, apart from the operations of the protocol. */
export function createOperatorPath(operator: Operator, access: OperatorAccess): ReservedPaths {
  return {
    accepts: ({ target }) => target.startsWith(BASE) && /^(?:[/?]|$)/.test(target.slice(BASE.length, BASE.length + 1)),
    async handle(exchange, environment) {
      let principal = ANONYMOUS;
      let outcome: "ok" | A2AError["code"] = "ok";
      let reply: Reply;
      try {
        if (exchange.fault !== undefined) throw new A2AError("invalid-request", exchange.fault.message);
        if (access.sessions !== undefined && pathOf(exchange.target) === SESSIONS)
          reply = await openSession(access.sessions, exchange, environment);
        else {
          principal = await authenticateOperator(access, exchange, environment);
          reply = await answer(operator, { exchange, environment, principal });
        }
      } catch (thrown) {
        const error = toA2AError(thrown);
        if (error.code === "internal")
          environment.logger.error("A request of an operator failed", { error: error.cause });
        outcome = error.code;
        reply = errorReply(error, thrown instanceof WrongMethod ? thrown.headers : undefined);
      }
      environment.audit?.(
        auditEntry({
          principal,
          agent: "*",
          operation: "operator",
          request: `${exchange.method} ${pathOf(exchange.target)}`.slice(0, 256),
          tenant: undefined,
          taskId: undefined,
          remote: environment.remoteOf(exchange),
          outcome,
          trace: traceOf(exchange),
        }),
      );
      return reply;
    },
  };
}

/** The path supports only other methods. */
class WrongMethod extends A2AError {
  readonly headers: Headers;

  constructor(allow: string) {
    super("method-not-allowed", `This path supports only ${allow}`);
    this.headers = { allow };
  }
}

async function answer(operator: Operator, request: AcceptedRequest): Promise<Reply> {
  const { exchange } = request;
  const { target, method } = exchange;
  const path = pathOf(target);
  const segments = path.slice(BASE.length + 1).split("/");
  const found = OPERATOR_ROUTES.filter(
    (route) =>
      route.path.length === segments.length &&
      route.path.every((part, index) => (part === "*" ? segments[index] !== "" : part === segments[index])),
  );
  if (found.length === 0)
    throw new A2AError("method-not-found", "Path not found; see the page “Operator API” of the documentation");
  const route = found.find((each) => each.method === (method === "HEAD" ? "GET" : method));
  if (route === undefined)
    throw new WrongMethod(
      found.flatMap((each) => (each.method === "GET" ? ["GET", "HEAD"] : [each.method])).join(", "),
    );
  const query = new URLSearchParams(target.slice(path.length));
  const key = decoded(segments[route.path.indexOf("*")] ?? "");
  return privateJson(200, await route.run(operator, { ...request, query, key }));
}

/** The path without its query. */
function pathOf(target: string): string {
  const query = target.indexOf("?");
  return query === -1 ? target : target.slice(0, query);
}

/** The key of a task in a path. */
function decoded(segment: string): TaskId {
  try {
    // Safe cast: a key that no task has finds nothing.
    return decodeURIComponent(segment) as TaskId;
  } catch (cause) {
    throw new A2AError("invalid-request", "The path is not valid percent-encoded UTF-8", { cause });
  }
}
