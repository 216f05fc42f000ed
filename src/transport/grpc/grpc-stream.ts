import { A2AError } from "../../protocol/error.ts";
import type { StreamBatch, TaskStream } from "../../server/task-stream.ts";
import type { ByteString } from "../../wire/byte-string.ts";
import type { EventPlace, StreamOpening } from "../../wire/codec.ts";
import type { GrpcStatus } from "../../wire/grpc-codec.ts";
import { fillPlaceholders } from "../../wire/large-task.ts";
import { COUNTED_BYTES } from "../answers/answers.ts";
import type { OpenStreamReply, PresentedStream } from "../call/answer-call.ts";
import type { Endpoint } from "../endpoint.ts";
import type { PullSource } from "../exchange.ts";
import { placeOf } from "../streams/event-place.ts";
import { type Framing, TaskSource } from "../streams/task-source.ts";
import { answerKind } from "../text/answer-kind.ts";
import { byteSource } from "./byte-source.ts";
import { frameOf } from "./frame.ts";
import type { GrpcCall } from "./grpc-call.ts";
import { trailersOf } from "./status.ts";
import { wholeText } from "./whole-text.ts";

/** Approximate bytes per piece; a single event may be longer. */
const PIECE_BYTES = 65_536;

/** Writes a stream as gRPC messages. Throws `unavailable` if the longer answers hold too much memory. */
export function presentGrpcStream(endpoint: Endpoint, call: GrpcCall, presented: PresentedStream): OpenStreamReply {
  const { stream, ended } = presented;
  const framing = new GrpcFraming(call, placeOf(stream, call.codec));
  try {
    const opening = openingOf(endpoint, call, stream);
    const source = new TaskSource({ events: stream.events, opening, framing, ended });
    return {
      status: 200,
      headers: call.headers,
      source,
      encoding: "latin1",
      trailers: () => trailersOf(framing.status),
    };
  } catch (thrown) {
    // Nobody would read the events.
    stream.events?.close();
    throw thrown;
  }
}

function openingOf(
  endpoint: Endpoint,
  call: GrpcCall,
  { opening, events }: TaskStream,
): ByteString | PullSource<ByteString> {
  const { codec, compresses } = call;
  const start: StreamOpening = events === undefined ? { ...opening, final: true } : opening;
  const json = codec.encodeOpening(start);
  if (typeof json !== "string") throw new TypeError("Every version with gRPC opens a stream with one frame.");
  const id = opening.kind === "task" ? String(opening.task.seq) : undefined;
  const bytesOf = (text: string): ByteString => frameOf(codec.openingBytes(text, id), compresses);
  const kind = answerKind(endpoint, call);
  if (opening.kind === "task" && opening.task.large !== undefined) {
    const { task } = opening;
    const pieces = (async function* () {
      yield bytesOf(await wholeText(fillPlaceholders(json, task, codec)));
    })();
    return byteSource(endpoint.answers.ofPieces(pieces, 0, kind));
  }
  const bytes = bytesOf(json);
  return bytes.length < COUNTED_BYTES ? bytes : byteSource(endpoint.answers.ofText(bytes, kind));
}

class GrpcFraming implements Framing<ByteString> {
  readonly #call: GrpcCall;
  readonly #place: EventPlace | undefined;
  /** `undefined` unless the stream ended early or failed. */
  status: GrpcStatus | undefined;

  constructor(call: GrpcCall, place: EventPlace | undefined) {
    this.#call = call;
    this.#place = place;
  }

  /** gRPC has no message for this: UNAVAILABLE is the status after which clients try again. */
  reconnect(): undefined {
    return this.failure(new A2AError("unavailable", "The server is shutting down: subscribe again"));
  }

  failure(error: A2AError): undefined {
    this.status = this.#call.codec.grpcStatus(error);
    return undefined;
  }

  frames(batch: StreamBatch, from: number): { readonly piece: ByteString; readonly next: number } {
    const { entries } = batch;
    const place = this.#place;
    const { codec, compresses } = this.#call;
    if (place === undefined) throw new Error("A stream of one message has no events.");
    let piece = "";
    let next = from;
    while (next < entries.length && piece.length < PIECE_BYTES) {
      const entry = entries[next];
      next += 1;
      if (entry === undefined) continue;
      const final = batch.last && next === entries.length;
      piece += frameOf(codec.eventBytes(entry, final ? { ...place, final } : place), compresses);
    }
    // Safe: every frame has one character for each byte.
    return { piece: piece as ByteString, next };
  }
}
