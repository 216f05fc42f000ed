import { invalidField } from "../../protocol/error.ts";
import type { OperationRequest } from "../../protocol/operation.ts";
import { parseJson, requireJson } from "../body/json-body.ts";
import { readRequestBody } from "../body/request-body.ts";
import type { Endpoint } from "../endpoint.ts";
import type { Exchange } from "../exchange.ts";
import type { TransportEnvironment } from "../options.ts";
import { decoded, queryOf } from "./query.ts";
import type { RestCall } from "./rest-call.ts";

/** Checks the version, then the path, then the body; the first problem is reported. */
export async function readRestRequest(endpoint: Endpoint, call: RestCall): Promise<OperationRequest> {
  const { exchange, requestedVersion } = call;
  const { family, operation, names, captured } = call.match;
  const { refusal } = family.choose(requestedVersion, undefined);
  if (refusal !== undefined) throw refusal;
  const path = valuesByName(names, captured);
  const query = queryOf(exchange.target);
  if (exchange.method !== "POST") return call.codec.decodeRequest(operation, { path, query, body: undefined });
  const body = await readBody(exchange, endpoint.environment);
  const { codec } = family.choose(requestedVersion, body);
  call.useCodec(codec);
  return codec.decodeRequest(operation, { path, query, body });
}

/** The parsed body; `undefined` if it is empty. A body must be declared as JSON; from a web page, an empty one as well. */
async function readBody(exchange: Exchange, environment: TransportEnvironment): Promise<unknown> {
  const bytes = await readRequestBody(environment, exchange, environment.maxBodyBytes);
  if (bytes.byteLength === 0) {
    // An empty cross-origin POST needs no preflight, so any page could send one; declared as JSON it needs one.
    if (exchange.header("origin") !== undefined) requireJson(exchange);
    return undefined;
  }
  requireJson(exchange);
  return parseJson(bytes);
}

function valuesByName(names: readonly string[], captured: readonly string[]): Readonly<Record<string, string>> {
  const values: Record<string, string> = {};
  for (const [index, name] of names.entries()) {
    const value = decoded(captured[index] ?? "");
    if (value === undefined) throw invalidField(name, "is not validly percent-encoded in the path");
    values[name] = value;
  }
  return values;
}
