import { EventSource, type HttpAnswer, type ServerSentEvent, sendHttp, wholeAnswer } from "../conformance/http.ts";

/** An answer whose body is JSON. */
export interface JsonAnswer extends HttpAnswer {
  readonly json: unknown;
}

type Headers = Readonly<Record<string, string>>;

/** Posts this as JSON; a string as it is. */
export async function post(url: string, body: unknown, headers: Headers = {}): Promise<JsonAnswer> {
  return jsonAnswer(await sendHttp(postOf(url, body, headers)));
}

export async function get(url: string, headers: Headers = {}): Promise<JsonAnswer> {
  return jsonAnswer(await sendHttp({ method: "GET", url, headers }));
}

/** Posts this and reads the events of the answer as they come. */
export async function openStream(url: string, body: unknown, headers: Headers = {}): Promise<OpenStream> {
  const response = await sendHttp(postOf(url, body, { accept: "text/event-stream", ...headers }));
  if (response.headers.get("content-type") !== "text/event-stream") {
    throw new Error(`There is no stream but ${response.status} ${await response.text()}`);
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

/** One event of a stream, its data read. */
export interface Frame extends ServerSentEvent {
  readonly json: unknown;
}

export interface OpenStream {
  readonly response: Response;
  /** The next event; `undefined` when the server has closed. */
  next(): Promise<Frame | undefined>;
  /** The events up to and with the first whose data is wanted. */
  until(wanted: (data: unknown) => boolean): Promise<readonly Frame[]>;
  /** What is left, once the server has closed. */
  rest(): Promise<readonly Frame[]>;
  /** Hangs up. */
  close(): Promise<void>;
}

/** All events of a stream that the server ends by itself. */
export async function streamed(url: string, body: unknown, headers: Headers = {}): Promise<readonly Frame[]> {
  return (await openStream(url, body, headers)).rest();
}

/** What is found by these names, one in the other: `result.parts.0.text`. `undefined` where there is no such thing. */
export function at(value: unknown, path: string): unknown {
  let found = value;
  for (const name of path.split(".")) {
    if (typeof found !== "object" || found === null || !Object.hasOwn(found, name)) return undefined;
    // Every object may be read member by member.
    found = (found as Readonly<Record<string, unknown>>)[name];
  }
  return found;
}

/** The text that is found there. */
export function textAt(value: unknown, path: string): string {
  const found = at(value, path);
  if (typeof found !== "string") throw new Error(`There is no text at ${path} of ${JSON.stringify(value)}`);
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
