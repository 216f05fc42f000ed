/** One HTTP request. */
export interface HttpRequest {
  readonly method: string;
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string;
}

/** A complete response. */
export interface HttpAnswer {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
}

/** Sends a request over a real connection. Does not read the body. */
export function sendHttp({ method, url, headers, body }: HttpRequest): Promise<Response> {
  // As bytes: `fetch` would add a content type to a string.
  return fetch(url, { method, headers, ...(body !== undefined && { body: Buffer.from(body) }), redirect: "manual" });
}

export async function wholeAnswer(response: Response): Promise<HttpAnswer> {
  return { status: response.status, headers: response.headers, text: await response.text() };
}

export async function exchange(request: HttpRequest): Promise<HttpAnswer> {
  return wholeAnswer(await sendHttp(request));
}

/** Parses the body as the type that the test expects. */
export function jsonOf<T>({ text }: { readonly text: string }): T {
  return JSON.parse(text) as T;
}

export function typeOf({ headers }: { readonly headers: Headers }): string {
  return headers.get("content-type") ?? "";
}

export interface ServerSentEvent {
  readonly id: string | undefined;
  readonly event: string | undefined;
  readonly data: string;
}

/** Reads Server-Sent Events one at a time. */
export class EventSource {
  readonly #reader: ReadableStreamDefaultReader<string> | undefined;
  #buffer = "";

  constructor(response: Response) {
    this.#reader = response.body?.pipeThrough(new TextDecoderStream()).getReader();
  }

  /** The next event; `undefined` when the server has closed the stream. */
  async next(): Promise<ServerSentEvent | undefined> {
    for (;;) {
      const end = this.#buffer.indexOf("\n\n");
      if (end === -1) {
        const chunk = await this.#reader?.read();
        if (chunk?.value === undefined) {
          if (this.#buffer !== "") throw new Error(`The stream ends within a frame: ${this.#buffer}`);
          return undefined;
        }
        this.#buffer += chunk.value;
        continue;
      }
      const event = eventOf(this.#buffer.slice(0, end));
      this.#buffer = this.#buffer.slice(end + 2);
      if (event !== undefined) return event;
    }
  }

  async close(): Promise<void> {
    await this.#reader?.cancel();
  }
}

function eventOf(block: string): ServerSentEvent | undefined {
  const fields = new Map<string, string>();
  for (const line of block.split("\n")) {
    const [, name, value = ""] = /^([a-z]*): ?(.*)$/s.exec(line) ?? [];
    if (name === undefined) throw new Error(`A stream has a line that is no field: ${line}`);
    if (name === "") continue;
    if (!["id", "event", "data", "retry"].includes(name)) throw new Error(`A stream has the unknown field ${name}`);
    const before = fields.get(name);
    fields.set(name, before === undefined ? value : `${before}\n${value}`);
  }
  const data = fields.get("data");
  return data === undefined ? undefined : { id: fields.get("id"), event: fields.get("event"), data };
}
