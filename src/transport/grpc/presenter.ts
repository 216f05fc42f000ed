import { A2AError } from "../../protocol/error.ts";
import type { OperationRequest, OperationResult } from "../../protocol/operation.ts";
import { type ByteString, bytesOf } from "../../wire/byte-string.ts";
import { resultPieces } from "../../wire/large-task.ts";
import { COUNTED_BYTES } from "../answers/answers.ts";
import type { Presenter } from "../call/answer-call.ts";
import { signCard } from "../card/sign-card.ts";
import { challengesOf } from "../challenges.ts";
import type { Endpoint } from "../endpoint.ts";
import type { FullReply, PullSource, Reply, StreamReply } from "../exchange.ts";
import { answerKind } from "../text/answer-kind.ts";
import { piecesBytes } from "../text/present-result.ts";
import { agentOfMessage } from "./agent-of-call.ts";
import { authenticateCall, callAgent } from "./authenticate-call.ts";
import { byteSource } from "./byte-source.ts";
import { frameOf } from "./frame.ts";
import type { GrpcCall } from "./grpc-call.ts";
import { presentGrpcStream } from "./grpc-stream.ts";
import { ACCEPTED_ENCODINGS, readMessage, UnknownEncoding } from "./read-message.ts";
import { statusReply, trailersOf } from "./status.ts";
import { wholeText } from "./whole-text.ts";

/** gRPC: protobuf messages; the status is in the trailers. */
export const GRPC_PRESENTER: Presenter<GrpcCall> = {
  authenticate: authenticateCall,
  read: readRequest,
  result: presentResult,
  stream: presentGrpcStream,
  error: presentError,
};

async function readRequest(endpoint: Endpoint, call: GrpcCall): Promise<OperationRequest> {
  const { exchange, codec, operation, refusal } = call;
  if (refusal !== undefined) throw refusal;
  if (operation === undefined) throw new A2AError("method-not-found", "Method not found");
  const message = await readMessage(exchange, endpoint.environment);
  const named = agentOfMessage(codec.tenantOf(operation, message), exchange, call.agent);
  await callAgent(endpoint, call, named?.service ?? call.service);
  const request = codec.decodeRequest(operation, message);
  return named === undefined ? request : { ...request, tenant: named.tenant };
}

async function presentResult(endpoint: Endpoint, call: GrpcCall, result: OperationResult): Promise<Reply> {
  const { codec, operation = "get", headers, compresses } = call;
  const { cardSigning } = endpoint;
  const framed = (json: string): ByteString => frameOf(codec.resultBytes(operation, json), compresses);
  const streamed = (source: PullSource<string>): StreamReply => ({
    ...{ status: 200, headers, source: byteSource(source), encoding: "latin1" },
    trailers: () => trailersOf(undefined),
  });
  const large = piecesBytes(result);
  if (large !== undefined) {
    const pieces = (async function* () {
      yield framed(await wholeText(resultPieces(codec, result, (text) => text)));
    })();
    return streamed(endpoint.answers.ofPieces(pieces, large, answerKind(endpoint, call)));
  }
  let text = codec.encodeResult(result);
  if (result.kind === "card" && cardSigning !== undefined)
    text = await signCard(text, cardSigning.signer, cardSigning.keysUrl(call.exchange));
  const body = framed(text);
  if (body.length >= COUNTED_BYTES) return streamed(endpoint.answers.ofText(body, answerKind(endpoint, call)));
  return { status: 200, headers, body: bytesOf(body), trailers: trailersOf(undefined) };
}

function presentError(call: GrpcCall, error: A2AError): FullReply {
  const challenges = challengesOf(error);
  const { "grpc-encoding": _unused, ...headers } = call.headers;
  return statusReply(call.codec.grpcStatus(error), {
    ...headers,
    ...(error instanceof UnknownEncoding && ACCEPTED_ENCODINGS),
    ...(challenges !== undefined && { "www-authenticate": challenges }),
    ...(error.retryAfter !== undefined && { "retry-after": String(Math.ceil(error.retryAfter)) }),
  });
}
