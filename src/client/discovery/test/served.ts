/** A received request. */
export interface Seen {
  readonly method: string;
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

/** The answer of a URL: JSON, a whole response, or a function of the request. An error is a failed connection. */
export type Answer = Given | ((request: Seen) => Given | Promise<Given>);
type Given = Response | Error | Readonly<Record<string, unknown>>;

export interface Served {
  readonly fetch: typeof fetch;
  /** All requests, in order. */
  readonly seen: readonly Seen[];
  /** All requests as `GET https://…`. */
  readonly asked: readonly string[];
}

/** A `fetch` that answers from a table of URLs, and with 404 for others. Follows redirects only with `redirect: "follow"`. */
export function served(table: Readonly<Record<string, Answer>>): Served {
  const seen: Seen[] = [];
  const answer = async (input: string | URL | Request, init: RequestInit = {}): Promise<Response> => {
    const request = new Request(input, init);
    request.signal.throwIfAborted();
    const { method, url } = request;
    const entry: Seen = { method, url, headers: Object.fromEntries(request.headers), body: await request.text() };
    seen.push(entry);
    const place = table[url] ?? table[url.replace(/\?.*$/, "")] ?? new Response("Nothing here", { status: 404 });
    const given = typeof place === "function" ? await place(entry) : place;
    if (given instanceof Error) throw new TypeError("fetch failed", { cause: given });
    const response = given instanceof Response ? await copyOf(given) : Response.json(given);
    const location = response.headers.get("location");
    if (init.redirect === "follow" && location !== null && response.status >= 300 && response.status < 400)
      return answer(new URL(location, url), init);
    Object.defineProperty(response, "url", { value: url });
    return response;
  };
  return {
    fetch: answer,
    seen,
    get asked() {
      return seen.map(({ method, url }) => `${method} ${url}`);
    },
  };
}

/** A copy whose body can be canceled without the original. */
async function copyOf(response: Response): Promise<Response> {
  const { status, headers } = response;
  const body = await response.clone().text();
  return new Response(status === 204 || status === 304 ? null : body, { status, headers });
}
