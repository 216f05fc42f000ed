import { EventSource, type HttpAnswer, type ServerSentEvent, sendHttp, wholeAnswer } from "../conformance/http.ts";

/** A response with a JSON body. */
export interface JsonAnswer extends HttpAnswer {
  readonly json: unknown;
}

type Headers = Readonly<Record<string, string>>;

/** Posts an object as JSON, or a string unchanged. */
export async function post(url: string, body: unknown, headers: Headers = {}): Promise<JsonAnswer> {
  return jsonAnswer(await sendHttp(postOf(url, body, headers)));
}

export async function get(url: string, headers: Headers = {}): Promise<JsonAnswer> {
  return jsonAnswer(await sendHttp({ method: "GET", url, headers }));
}

/** Posts the body and reads the events of the response as they arrive. */
export async function openStream(url: string, body: unknown, headers: Headers = {}): Promise<OpenStream> {
  const response = await sendHttp(postOf(url, body, { accept: "text/event-stream", ...headers }));
  if (response.headers.get("content-type") !== "text/event-stream") {
    throw new Error(`Expected a stream, got ${response.status} ${await response.text()}`);
  }
  const source = new EventSource(response);
  const next = async (): Promise<Frame | undefined> => {
    const event = await source.next();
    return event === undefined ? undefined : { ...event, json: JSON.parse(event.data) as unknown };
  };
  return {
    response,
    next,
    async until(wanted) {
      const frames: Frame[] = [];
      for (;;) {
        const frame = await next();
        if (frame === undefined) throw new Error(`The stream ended after ${JSON.stringify(frames)}`);
        frames.push(frame);
        if (wanted(frame.json)) return frames;
      }
    },
    async rest() {
      const frames: Frame[] = [];
      for (let frame = await next(); frame !== undefined; frame = await next()) frames.push(frame);
      return frames;
    },
    close: () => source.close(),
  };
}

/** One event of a stream, with its data parsed. */
export interface Frame extends ServerSentEvent {
  readonly json: unknown;
}

export interface OpenStream {
  readonly response: Response;
  /** The next event; `undefined` when the server has closed the stream. */
  next(): Promise<Frame | undefined>;
  /** The events up to and including the first whose data matches. */
  until(wanted: (data: unknown) => boolean): Promise<readonly Frame[]>;
  /** The remaining events, until the server closes the stream. */
  rest(): Promise<readonly Frame[]>;
  /** Disconnects. */
  close(): Promise<void>;
}

/** All events of a stream that the server ends. */
export async function streamed(url: string, body: unknown, headers: Headers = {}): Promise<readonly Frame[]> {
  return (await openStream(url, body, headers)).rest();
}

/** The value at a path such as `result.parts.0.text`; `undefined` if there is none. */
export function at(value: unknown, path: string): unknown {
  let found = value;
  for (const name of path.split(".")) {
    if (typeof found !== "object" || found === null || !Object.hasOwn(found, name)) return undefined;
    // Every object can be read member by member.
    found = (found as Readonly<Record<string, unknown>>)[name];
  }
  return found;
}

/** The text at a path; throws if there is none. */
export function textAt(value: unknown, path: string): string {
  const found = at(value, path);
  if (typeof found !== "string") throw new Error(`No text at ${path} of ${JSON.stringify(value)}`);
  return found;
}

function postOf(url: string, body: unknown, headers: Headers) {
  return {
    method: "POST",
    url,
    headers: { "content-type": "application/json", ...headers },
    body: typeof body === "string" ? body : JSON.stringify(body),
  };
}

async function jsonAnswer(response: Response): Promise<JsonAnswer> {
  const answer = await wholeAnswer(response);
  return { ...answer, json: JSON.parse(answer.text) as unknown };
}
