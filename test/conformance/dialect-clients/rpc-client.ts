import type { CallerOptions, Outcome, Stream } from "../dialect-client.ts";
import { EventSource, type HttpAnswer, type HttpRequest, sendHttp, typeOf, wholeAnswer } from "../http.ts";
import type { Fields, StreamEvent } from "../neutral.ts";
import { REFUSALS, type Refusal } from "../refusals.ts";
import { objectWith, wrong } from "../strict.ts";
import { checkStreamHeaders, frameStream } from "./frame-stream.ts";

export interface RpcClientOptions {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly callerOptions: CallerOptions;
  /** Methods whose errors arrive as the single event of a stream, unless the parameters could not be parsed. */
  readonly eventErrors?: readonly string[];
  /** Reads the `error` member. */
  readError(value: unknown): Refusal;
  /** See `FrameReading`. */
  readonly joinOpening?: (opening: readonly StreamEvent[]) => StreamEvent;
}

export interface RpcClient {
  call<T>(request: RpcRequest, read: (result: unknown) => T): Promise<Outcome<T>>;
  open(request: RpcRequest, read: (result: unknown) => StreamEvent): Promise<Outcome<Stream>>;
}

export interface RpcRequest {
  readonly method: string;
  readonly params?: Fields;
  readonly headers?: Readonly<Record<string, string>>;
}

let requests = 0;

/** Alternates strings and integers: each must be echoed unchanged. */
function nextId(): string | number {
  requests += 1;
  return requests % 2 === 0 ? requests : `request-${requests}`;
}

export function createRpcClient(options: RpcClientOptions): RpcClient {
  const { url, callerOptions, readError, joinOpening } = options;
  const httpRequest = (id: string | number, { method, params, headers }: RpcRequest, accept: string): HttpRequest => {
    const altered = params === undefined ? undefined : (callerOptions.alter?.(params) ?? params);
    return {
      method: "POST",
      url,
      headers: { "content-type": "application/json", accept, ...options.headers, ...headers },
      body: JSON.stringify({ jsonrpc: "2.0", id, method, ...(altered !== undefined && { params: altered }) }),
    };
  };
  const answerOf = <T>(http: HttpAnswer, id: string | number, read: (result: unknown) => T): Outcome<T> => {
    if (typeOf(http) !== "application/json") wrong("content-type", "must be application/json", typeOf(http));
    const opened = openEnvelope(http.text, id);
    if ("result" in opened) {
      if (http.status !== 200) wrong("HTTP status", "must be 200", http.status);
      return { ok: true, value: read(opened.result), http };
    }
    const refusal = readError(opened.error);
    const expected = REFUSALS[refusal.name].rpcHttp;
    if (http.status !== expected) wrong("HTTP status", `must be ${expected} for ${refusal.name}`, http.status);
    return { ok: false, refusal, http };
  };
  return {
    async call(request, read) {
      const id = nextId();
      return answerOf(await wholeAnswer(await sendHttp(httpRequest(id, request, "application/json"))), id, read);
    },
    async open(request, read) {
      const id = nextId();
      const response = await sendHttp(httpRequest(id, request, "text/event-stream"));
      const eventErrors = options.eventErrors?.includes(request.method) === true;
      if (response.headers.get("content-type") !== "text/event-stream") {
        const outcome = answerOf<Stream>(await wholeAnswer(response), id, () => wrong("A stream", "was not opened"));
        // An HTTP error status is visible to every reader, so only status 200 needs the error event.
        if (eventErrors && outcome.http.status === 200 && !(outcome.ok || outcome.refusal.name === "InvalidParams")) {
          wrong("This error", "must come as an event", outcome.http.text);
        }
        return outcome;
      }
      checkStreamHeaders(response);
      const source = new EventSource(response);
      const first = await source.next();
      if (first === undefined) return wrong("A stream", "has no first event");
      const http: HttpAnswer = { status: response.status, headers: response.headers, text: first.data };
      const opened = openEnvelope(first.data, id);
      if ("error" in opened) {
        if (!eventErrors) wrong("This error", "must not come as an event", first.data);
        if (first.event !== "error") wrong("The event", "must be named error", first.event);
        if ((await source.next()) !== undefined) wrong("A stream", "goes on after its error");
        return { ok: false, refusal: readError(opened.error), http };
      }
      const readData = (data: string): StreamEvent => {
        const frame = openEnvelope(data, id);
        return "result" in frame ? read(frame.result) : wrong("A stream", "broke off", frame.error);
      };
      const reading = { read: readData, ...(joinOpening !== undefined && { join: joinOpening }) };
      return { ok: true, value: frameStream(source, first, reading), http };
    },
  };
}

/** Reads a complete JSON-RPC response to the request with this id. */
function openEnvelope(text: string, id: string | number): { readonly result: unknown } | { readonly error: unknown } {
  const envelope = objectWith(JSON.parse(text), "response", { required: ["jsonrpc", "id"], one: ["result", "error"] });
  if (envelope["jsonrpc"] !== "2.0") wrong("jsonrpc", 'must be "2.0"', envelope["jsonrpc"]);
  if (envelope["id"] !== id) wrong("id", `must be ${JSON.stringify(id)}`, envelope["id"]);
  return "result" in envelope ? { result: envelope["result"] } : { error: envelope["error"] };
}
