/** One request and its response. */
export interface Exchanged {
  readonly method: string;
  readonly url: string;
  readonly requestHeaders: Headers;
  readonly requestBody: string | undefined;
  readonly status: number;
  readonly headers: Headers;
}

/** A `fetch` that records requests and responses. */
export class WireRecord {
  readonly exchanges: Exchanged[] = [];
  /** Called with each response before the client receives it. */
  readonly #inspect: (exchange: Exchanged, response: Response) => void;

  constructor(inspect: (exchange: Exchanged, response: Response) => void) {
    this.#inspect = inspect;
  }

  readonly fetch: typeof fetch = async (input, init) => {
    const response = await fetch(input, init);
    const exchange = {
      method: init?.method ?? "GET",
      url: input instanceof Request ? input.url : String(input),
      requestHeaders: new Headers(init?.headers),
      requestBody: typeof init?.body === "string" ? init.body : undefined,
      status: response.status,
      headers: response.headers,
    };
    this.exchanges.push(exchange);
    this.#inspect(exchange, response);
    return response;
  };

  get last(): Exchanged {
    const last = this.exchanges.at(-1);
    if (last === undefined) throw new Error("Nothing has passed yet.");
    return last;
  }
}
