import { invalidField } from "../../protocol/error.ts";
import type { Operation, OperationRequest } from "../../protocol/operation.ts";
import type { Service } from "../../server/service.ts";
import type { RestCodec, RestFamily } from "../../wire/codec.ts";
import { parseJson, requireJson } from "../body/json-body.ts";
import { readRequestBody } from "../body/request-body.ts";
import { beginConversation, type Conversation, converse, type Endpoint } from "../conversation.ts";
import type { Exchange, Headers, Reply } from "../exchange.ts";
import type { TransportEnvironment } from "../options.ts";
import type { Refuse } from "../router.ts";
import { requestedVersion } from "../service-parameters.ts";
import type { TextEnvelope } from "../text/text-envelope.ts";
import { answerMediaType } from "./media-type.ts";
import { decoded, queryOf } from "./query.ts";

/** A request whose path is known: what it asks, of whom, and what stands in the path, as sent, for each name. */
export interface RestMatch {
  readonly service: Service;
  readonly family: RestFamily;
  readonly operation: Operation;
  readonly names: readonly string[];
  readonly captured: readonly string[];
}

/** Answers go out as they are. */
const BARE: TextEnvelope = { result: (text) => text, error: (text) => text };

/** Answers one REST request, of whichever version. Never rejects. */
export function handleRest(endpoint: Endpoint, exchange: Exchange, match: RestMatch): Promise<Reply> {
  const { service, family, operation } = match;
  const conversation = beginConversation<RestCodec>({
    exchange,
    service,
    operation,
    envelope: BARE,
    codec: (requested) => family.choose(requested, undefined).codec,
  });
  conversation.headers = headersFor(conversation.codec, exchange);
  return converse(endpoint, conversation, () => read(endpoint, conversation, match));
}

/** Version, then path, then body: a request that is wrong in several ways hears of the first. */
async function read(
  endpoint: Endpoint,
  conversation: Conversation<RestCodec>,
  { family, operation, names, captured }: RestMatch,
): Promise<OperationRequest> {
  const { exchange, requested } = conversation;
  const { refusal } = family.choose(requested, undefined);
  if (refusal !== undefined) throw refusal;
  const path = valuesByName(names, captured);
  const query = queryOf(exchange.target);
  if (exchange.method !== "POST") return conversation.codec.decodeRequest(operation, { path, query, body: undefined });
  const body = await readBody(exchange, endpoint.environment);
  const { codec } = family.choose(requested, body);
  if (codec !== conversation.codec) {
    conversation.codec = codec;
    conversation.headers = headersFor(codec, exchange);
  }
  return codec.decodeRequest(operation, { path, query, body });
}

/** `undefined` where there is no body; what there is must be declared as JSON, and by web pages also what there is not. */
async function readBody(exchange: Exchange, environment: TransportEnvironment): Promise<unknown> {
  const bytes = await readRequestBody(environment, exchange, environment.maxBodyBytes);
  if (bytes.byteLength === 0) {
    // A web page may have its reader's browser send nothing to anybody, without asking first; not so what says that it is JSON.
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

/** What is answered is for one caller and may be otherwise a moment later. */
function headersFor({ mediaTypes }: RestCodec, exchange: Exchange): Headers {
  const wishes = { accept: exchange.header("accept"), contentType: exchange.header("content-type") };
  return { "content-type": answerMediaType(mediaTypes, wishes), "cache-control": "private, no-cache" };
}

/** Tells of an error as this family's readers are told of it, where no conversation comes about. */
export function restRefusal(family: RestFamily): Refuse {
  return (exchange, error) => {
    const { codec } = family.choose(requestedVersion(exchange), undefined);
    return { status: codec.statusOf(error), headers: headersFor(codec, exchange), body: codec.encodeError(error) };
  };
}
