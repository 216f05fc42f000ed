import { type IncomingMessage, request } from "node:http";
import { text } from "node:stream/consumers";

export interface Part {
  readonly text?: string;
  readonly raw?: string;
  readonly data?: unknown;
}

export interface Artifact {
  readonly artifactId: string;
  readonly name?: string;
  readonly parts: readonly Part[];
}

export interface Message {
  readonly messageId: string;
  readonly role: string;
  readonly parts: readonly Part[];
}

export interface Task {
  readonly id: string;
  readonly contextId: string;
  readonly status: { readonly state: string; readonly message?: Message; readonly timestamp: string };
  readonly artifacts?: readonly Artifact[];
  readonly history?: readonly Message[];
}

/** The possible contents of a stream frame. */
export interface StreamResult {
  readonly task?: Task;
  readonly message?: Message;
  readonly statusUpdate?: { readonly status: Task["status"] };
  readonly artifactUpdate?: { readonly artifact: Artifact; readonly append?: boolean; readonly lastChunk?: boolean };
}

export interface RpcError {
  readonly code: number;
  readonly message: string;
  readonly data: readonly { readonly reason?: string }[];
}

export interface Answer<Result> {
  readonly status: number;
  readonly retryAfter: string | undefined;
  /** The response body, unparsed. */
  readonly body: string;
  readonly result?: Result;
  readonly error?: RpcError;
}

export interface Frame {
  readonly id: number;
  readonly result: StreamResult;
}

export interface Call {
  readonly method: string;
  readonly params: object;
  /** Resume after the event with this id. */
  readonly after?: number | undefined;
}

let messages = 0;

export interface SendParameters {
  readonly message: Message;
  readonly configuration?: object;
}

interface Extra {
  readonly message?: object;
  readonly configuration?: object;
}

/** Parameters of a send: a message with one text, plus extra members for the message or the request. */
export function sendParams(words: string, extra: Extra = {}): SendParameters {
  const message = {
    messageId: `m-${process.pid}-${++messages}`,
    role: "ROLE_USER",
    parts: [{ text: words }],
    ...extra.message,
  };
  return { message, ...(extra.configuration && { configuration: extra.configuration }) };
}

/** Sends one request and returns the response. */
export async function ask<Result = unknown>(url: string, method: string, params: object): Promise<Answer<Result>> {
  const response = await post(url, { method, params });
  const body = await text(response);
  const { result, error } = JSON.parse(body);
  return { status: response.statusCode ?? 0, retryAfter: response.headers["retry-after"], body, result, error };
}

/** Sends one request and returns its result; throws on an error response. */
export async function must<Result>(url: string, method: string, params: object): Promise<Result> {
  const { result, body } = await ask<Result>(url, method, params);
  if (result === undefined) throw new Error(body);
  return result;
}

/** A stream that has ended or was cut. */
export interface Stream {
  readonly frames: AsyncGenerator<Frame, void>;
  /** Lines outside of frames: `retry:` and comments. */
  readonly asides: readonly string[];
  readonly status: number;
  close(): void;
}

/**
 * Opens a stream. Yields complete frames only, as a browser does; a cut connection ends the stream without an error.
 */
export async function open(url: string, call: Call): Promise<Stream> {
  const response = await post(url, call);
  if (response.headers["content-type"] !== "text/event-stream") throw new Error(await text(response));
  const asides: string[] = [];
  return {
    frames: framesOf(response, asides),
    asides,
    status: response.statusCode ?? 0,
    close: () => void response.destroy(),
  };
}

/** Collects the frames of a stream until it ends or until `wanted` returns false for a frame. */
export async function collect(
  url: string,
  call: Call,
  wanted: (frame: Frame) => boolean = () => true,
): Promise<Frame[]> {
  const stream = await open(url, call);
  const frames: Frame[] = [];
  for await (const frame of stream.frames) {
    frames.push(frame);
    if (!wanted(frame)) break;
  }
  stream.close();
  return frames;
}

/** The frames without the snapshots of the whole task. */
export function eventsOf(frames: readonly Frame[]): Frame[] {
  return frames.filter(({ result }) => result.task === undefined);
}

/** The event ids 1, 2, 3, … `count`. */
export function idsUpTo(count: number): number[] {
  return Array.from({ length: count }, (_, index) => index + 1);
}

export function textOf(frames: readonly Frame[]): string {
  const parts = frames.flatMap(({ result }) => result.artifactUpdate?.artifact.parts ?? []);
  return parts.map((part) => part.text ?? "").join("");
}

function post(url: string, { method, params, after }: Call): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    const outgoing = request(
      url,
      {
        method: "POST",
        agent: false,
        headers: {
          "content-type": "application/json",
          "a2a-version": "1.0",
          ...(after !== undefined && { "last-event-id": String(after) }),
        },
      },
      resolve,
    );
    outgoing.on("error", reject);
    outgoing.end(JSON.stringify({ jsonrpc: "2.0", id: 1, method, params }));
  });
}

async function* framesOf(response: IncomingMessage, asides: string[]): AsyncGenerator<Frame, void> {
  const decoder = new TextDecoder();
  let rest = "";
  try {
    for await (const chunk of response) {
      const blocks = (rest + decoder.decode(chunk, { stream: true })).split("\n\n");
      rest = blocks.pop() ?? "";
      for (const block of blocks) {
        const frame = frameOf(block, asides);
        if (frame !== undefined) yield frame;
      }
    }
  } catch (error) {
    // The connection was cut or closed. Frames received before stay valid.
    if (!isCut(error)) throw error;
  }
}

function frameOf(block: string, asides: string[]): Frame | undefined {
  let id: number | undefined;
  let data = "";
  for (const line of block.split("\n")) {
    if (line.startsWith("id: ")) id = Number(line.slice(4));
    else if (line.startsWith("data: ")) data += line.slice(6);
    else asides.push(line);
  }
  if (data === "") return undefined;
  const { result, error } = JSON.parse(data);
  if (result === undefined) throw new Error(`The stream broke off: ${JSON.stringify(error)}`);
  return { id: id ?? -1, result };
}

const CUT_CODES: readonly unknown[] = ["ECONNRESET", "ERR_STREAM_PREMATURE_CLOSE"];

function isCut(error: unknown): boolean {
  return error instanceof Error && "code" in error && CUT_CODES.includes(error.code);
}
