import { type ClientHttp2Stream, connect } from "node:http2";
import { loadGrpcDialects } from "../../../src/wire/grpc.ts";
import { FrameReader, frame } from "../../../src/wire/grpc-frame.ts";
import type { CallerOptions, Outcome, Reduction, Stream } from "../dialect-client.ts";
import type { HttpAnswer } from "../http.ts";
import type { Fields, Frame, StreamEvent, Task } from "../neutral.ts";
import { type Edition, REFUSALS, type Refusal } from "../refusals.ts";
import { asObject, wrong } from "../strict.ts";

/** A list without members is absent in protobuf. */
export const REDUCTION_GRPC: Reduction = {
  task: withoutEmptyLists,
  frames: (frames) =>
    frames.map((frame) => (frame.kind === "task" ? { ...frame, task: withoutEmptyLists(frame.task) } : frame)),
};

function withoutEmptyLists({ artifacts, history, ...task }: Task): Task {
  return {
    ...task,
    ...(artifacts !== undefined && artifacts.length > 0 && { artifacts }),
    ...(history !== undefined && history.length > 0 && { history }),
  };
}

/** Bytes of messages, by their definitions. */
export const TYPES: Awaited<ReturnType<typeof loadGrpcDialects>> = await loadGrpcDialects();

/** The numbers of the statuses that refuse calls. */
const STATUSES: Readonly<Record<string, number>> = {
  ...{ INVALID_ARGUMENT: 3, NOT_FOUND: 5, PERMISSION_DENIED: 7, RESOURCE_EXHAUSTED: 8, FAILED_PRECONDITION: 9 },
  ...{ ABORTED: 10, UNIMPLEMENTED: 12, INTERNAL: 13, UNAVAILABLE: 14, UNAUTHENTICATED: 16 },
};

export interface GrpcClientOptions {
  readonly origin: string;
  /** The package of the service and of its messages. */
  readonly packageName: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly callerOptions: CallerOptions;
  readonly edition: Edition;
  /** Members that every request has. */
  readonly common?: Fields;
  /** Reads the error from the status of a call. */
  readError(status: GrpcStatus): GrpcRefusal;
  readEvent(value: unknown): StreamEvent;
}

export interface GrpcStatus {
  readonly code: number;
  readonly message: string;
  readonly details: Uint8Array;
}

export interface GrpcRefusal {
  readonly refusal: Refusal;
  /** The name of the status that belongs to the error. */
  readonly status: string;
  /** The error as REST would show it. */
  readonly shown: object;
}

export interface GrpcRequest {
  readonly method: string;
  /** Message types; absent `answer`: the events of a stream. */
  readonly request: string;
  readonly answer?: string;
  readonly body: Fields;
  readonly after?: string | undefined;
}

export interface GrpcClient {
  call<T>(request: GrpcRequest, read: (value: unknown) => T): Promise<Outcome<T>>;
  open(request: GrpcRequest): Promise<Outcome<Stream>>;
}

/**
 * A client over gRPC, with a connection for each call. Messages are shown as their ProtoJSON, in which fields with default values are absent,
 * and errors as REST would show them; the gRPC status must belong to the error.
 */
export function createGrpcClient(options: GrpcClientOptions): GrpcClient {
  const { origin, packageName, callerOptions } = options;
  const open = ({ method, request, body, after }: GrpcRequest): Answer => {
    const full = { ...options.common, ...body };
    const session = connect(origin);
    session.on("error", () => undefined);
    const stream = session.request(
      {
        ":method": "POST",
        ":path": `/${packageName}.A2AService/${method}`,
        "content-type": "application/grpc",
        te: "trailers",
        ...options.headers,
        ...(after !== undefined && { "last-event-id": after }),
      },
      { endStream: false },
    );
    stream.on("error", () => undefined);
    stream.on("close", () => session.destroy());
    stream.end(frame(TYPES.type(`${packageName}.${request}`).encode(callerOptions.alter?.(full) ?? full)));
    return new Answer(stream, options);
  };
  return {
    async call(asked, read) {
      const answer = open(asked);
      const message = await answer.next();
      if (message === undefined) return { ok: false, ...answer.refusal() };
      if ((await answer.next()) !== undefined) wrong("An answer", "has two messages");
      answer.mustHaveSucceeded();
      const { answer: type = "" } = asked;
      const value = decoded(type.includes(".") ? type : `${packageName}.${type}`, message);
      return { ok: true, value: read(value), http: answer.shown(JSON.stringify(value)) };
    },
    async open(asked) {
      const answer = open(asked);
      const first = await answer.next();
      if (first === undefined) return { ok: false, ...answer.refusal() };
      const json = (message: Uint8Array): Fields =>
        asObject(decoded(`${packageName}.StreamResponse`, message), "StreamResponse");
      const read = (message: Uint8Array): Frame => {
        const { palaverEventId: id, ...event } = json(message);
        return { ...options.readEvent(event), id: typeof id === "string" ? id : undefined };
      };
      return { ok: true, value: framesOf(answer, first, read), http: answer.shown(JSON.stringify(json(first))) };
    },
  };
}

/** As ProtoJSON, with milliseconds in every time: the library leaves them out if they are 0. */
function decoded(type: string, message: Uint8Array): unknown {
  return JSON.parse(JSON.stringify(TYPES.type(type).decode(message)), (name, value: unknown) =>
    name === "timestamp" && typeof value === "string" ? value.replace(/(:\d\d)Z$/, "$1.000Z") : value,
  );
}

/** The messages and the status of one call. */
class Answer {
  readonly #chunks: AsyncIterator<Uint8Array>;
  readonly #reader = new FrameReader(1e8);
  readonly #stream: ClientHttp2Stream;
  readonly #options: GrpcClientOptions;
  #head: Record<string, unknown> = {};

  constructor(stream: ClientHttp2Stream, options: GrpcClientOptions) {
    this.#stream = stream;
    this.#options = options;
    this.#chunks = stream[Symbol.asyncIterator]();
    const note = (received: Record<string, unknown>): void => {
      this.#head = { ...this.#head, ...received };
    };
    stream.on("response", note);
    stream.on("trailers", note);
  }

  get #headers(): Headers {
    const entries = Object.entries(this.#head).filter(([name]) => !name.startsWith(":"));
    return new Headers(entries.map(([name, value]): [string, string] => [name, String(value)]));
  }

  shown(text: string, status: number = 200): HttpAnswer {
    const headers = this.#headers;
    // Shown as text.
    headers.delete("grpc-status-details-bin");
    return { status, headers, text };
  }

  async next(): Promise<Uint8Array | undefined> {
    for (;;) {
      const message = this.#reader.next();
      if (message !== undefined) return message;
      const chunk = await this.#chunks.next();
      if (chunk.done === true) return undefined;
      this.#reader.add(chunk.value);
    }
  }

  close(): void {
    this.#stream.close();
  }

  mustHaveSucceeded(): void {
    if (this.#headers.get("grpc-status") !== "0") wrong("grpc-status", "must be 0", this.#head);
  }

  refusal(): { readonly refusal: Refusal; readonly http: HttpAnswer } {
    const headers = this.#headers;
    const code = Number(headers.get("grpc-status"));
    const message = decodeURIComponent(headers.get("grpc-message") ?? "");
    const details = Buffer.from(headers.get("grpc-status-details-bin") ?? "", "base64");
    const { readError, edition } = this.#options;
    const { refusal, status, shown } = readError({ code, message, details });
    if (STATUSES[status] !== code) wrong("grpc-status", `must be that of ${status}`, code);
    return { refusal, http: this.shown(JSON.stringify(shown), REFUSALS[refusal.name].http[edition]) };
  }
}

function framesOf(answer: Answer, first: Uint8Array, read: (message: Uint8Array) => Frame): Stream {
  let pending: Uint8Array | undefined = first;
  let last = -1;
  const next = async (): Promise<Frame | undefined> => {
    const message = pending ?? (await answer.next());
    pending = undefined;
    if (message === undefined) return undefined;
    const event = read(message);
    if (event.kind !== "message") {
      if (!(Number(event.id) > last)) wrong("palaverEventId", `must be greater than ${last}`, event.id);
      last = Number(event.id);
    }
    return event;
  };
  const rest = async (wanted?: (frame: Frame) => boolean): Promise<readonly Frame[]> => {
    const frames: Frame[] = [];
    for (let each = await next(); each !== undefined; each = await next()) {
      frames.push(each);
      if (wanted?.(each) === true) return frames;
    }
    if (wanted !== undefined) throw new Error(`The stream closed after ${JSON.stringify(frames)}`);
    return frames;
  };
  return { next, until: rest, rest: () => rest(), close: async () => answer.close() };
}
