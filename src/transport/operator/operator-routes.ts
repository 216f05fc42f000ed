import type { Operator } from "../../operator/operator.ts";
import { MAX_WAIT } from "../../operator/read-task.ts";
import { A2AError, invalidField } from "../../protocol/error.ts";
import type { TaskId } from "../../protocol/ids.ts";
import type { Principal } from "../../protocol/principal.ts";
import { parseJson, requireJson } from "../body/json-body.ts";
import { readRequestBody } from "../body/request-body.ts";
import type { Exchange } from "../exchange.ts";
import type { TransportEnvironment } from "../options.ts";
import { answerFrom, emptyBody } from "./answer-body.ts";
import { knownParameters, taskFilter, truth, wholeNumber } from "./query.ts";

/** A request of an authenticated operator. */
export interface AcceptedRequest {
  readonly exchange: Exchange;
  readonly environment: TransportEnvironment;
  readonly principal: Principal;
}

/** Such a request for one path. */
interface OperatorRequest extends AcceptedRequest {
  readonly query: URLSearchParams;
  /** The path segment that `*` stands for. */
  readonly key: TaskId;
}

/** One method of one path. */
interface OperatorRoute {
  readonly method: "GET" | "POST";
  /** The path below `/operator/v1`, in segments; `*` is the key of a task. */
  readonly path: readonly string[];
  run(operator: Operator, request: OperatorRequest): Promise<object>;
}

const MAX_SEQ = Number.MAX_SAFE_INTEGER;
const MAX_BODY = 65_536;
/** Milliseconds. */
const MAX_WITHIN = 60_000;

/** For paths that take no parameters. */
function withoutQuery(run: OperatorRoute["run"]): OperatorRoute["run"] {
  return async (operator, request) => {
    knownParameters(request.query, []);
    return run(operator, request);
  };
}

/** All paths of the operator API. */
export const OPERATOR_ROUTES: readonly OperatorRoute[] = [
  {
    method: "GET",
    path: ["server"],
    run: withoutQuery(async (operator, { principal }) => ({ ...operator.server(), you: principal.id })),
  },
  { method: "GET", path: ["tasks"], run: (operator, { query }) => operator.tasks(taskFilter(query)) },
  {
    method: "GET",
    path: ["tasks", "*"],
    run: (operator, { query, key }) =>
      operator.task(key, { hasJournal: truth(knownParameters(query, ["journal"]), "journal") ?? true }),
  },
  {
    method: "GET",
    path: ["tasks", "*", "events"],
    run(operator, { query, key, exchange }) {
      const parameters = knownParameters(query, ["after", "wait", "limit"]);
      const after = wholeNumber(parameters, "after", [0, MAX_SEQ]) ?? 0;
      const wait = wholeNumber(parameters, "wait", [0, MAX_WAIT]) ?? 0;
      const limit = wholeNumber(parameters, "limit", [1, MAX_SEQ]) ?? MAX_SEQ;
      return operator.events(key, { after, wait, limit, signal: exchange.signal });
    },
  },
  {
    method: "GET",
    path: ["tasks", "*", "outline"],
    run(operator, { query, key, exchange }) {
      const parameters = knownParameters(query, ["log", "within"]);
      const within = wholeNumber(parameters, "within", [0, MAX_WITHIN]);
      return operator.outline(key, { hasLog: truth(parameters, "log") ?? true, within, signal: exchange.signal });
    },
  },
  {
    method: "GET",
    path: ["tasks", "*", "snapshot"],
    run(operator, { query, key, exchange }) {
      const seq = wholeNumber(knownParameters(query, ["seq"]), "seq", [0, MAX_SEQ]);
      if (seq === undefined) throw invalidField("seq", "is required");
      return operator.snapshot(key, seq, exchange.signal);
    },
  },
  {
    method: "GET",
    path: ["tasks", "*", "trace"],
    run: withoutQuery((operator, request) => operator.trace(request.key)),
  },
  {
    method: "POST",
    path: ["tasks", "*", "cancel"],
    run: withoutQuery(async (operator, request) => {
      emptyBody(await bodyOf(request));
      return operator.cancel(request.key);
    }),
  },
  {
    method: "POST",
    path: ["tasks", "*", "answer"],
    run: withoutQuery(async (operator, request) => {
      const { key, principal, exchange } = request;
      return operator.answer(key, { ...answerFrom(await bodyOf(request)), principal, signal: exchange.signal });
    }),
  },
  {
    method: "GET",
    path: ["tasks", "*", "webhooks"],
    run: withoutQuery((operator, request) => operator.webhooksOf(request.key)),
  },
  { method: "GET", path: ["webhooks"], run: withoutQuery((operator) => operator.webhooks()) },
  {
    method: "GET",
    path: ["dead-letters"],
    run(operator, { query }) {
      const parameters = knownParameters(query, ["limit", "cursor", "task"]);
      const limit = wholeNumber(parameters, "limit", [1, 200]);
      return operator.deadLetters({ limit, cursor: parameters.get("cursor"), taskId: parameters.get("task") });
    },
  },
  {
    method: "POST",
    path: ["dead-letters", "redeliver"],
    run: withoutQuery(async (operator, request) => operator.redeliver(letterFrom(await bodyOf(request)))),
  },
  { method: "GET", path: ["nodes"], run: withoutQuery((operator) => operator.nodes()) },
  { method: "GET", path: ["store"], run: withoutQuery((operator) => operator.store()) },
  { method: "GET", path: ["metrics"], run: withoutQuery((operator) => operator.metrics()) },
];

/** The body, which must be a JSON object: a web page cannot send one to another origin without being asked first. */
async function bodyOf({ exchange, environment }: AcceptedRequest): Promise<ReadonlyMap<string, unknown>> {
  requireJson(exchange);
  const body = parseJson(await readRequestBody(environment, exchange, MAX_BODY));
  if (typeof body !== "object" || body === null || Array.isArray(body))
    throw new A2AError("invalid-params", "The body must be an object");
  return new Map<string, unknown>(Object.entries(body));
}

/** `{ taskId, configId }`, and the scope if the caller chose the task's id. */
function letterFrom(members: ReadonlyMap<string, unknown>): Parameters<Operator["redeliver"]>[0] {
  const text = (name: string): string | undefined => {
    const value = members.get(name);
    if (value === undefined || typeof value === "string") return value;
    throw invalidField(name, "must be a string");
  };
  const [taskId, configId] = [text("taskId"), text("configId")];
  if (taskId === undefined) throw invalidField("taskId", "is required");
  if (configId === undefined) throw invalidField("configId", "is required");
  const [agent, tenant, owner] = [text("agent"), text("tenant"), text("owner")];
  return {
    taskId,
    configId,
    ...(agent !== undefined && { agent }),
    ...(tenant !== undefined && { tenant }),
    ...(owner !== undefined && { owner }),
  };
}
