import { elementsOf, type Json } from "./json.ts";

/** The HTTP requests of a client, as its library sends them. */
export interface Requests {
  /** The path of the card, relative to the agent's address. */
  readonly cardPath: string;
  readonly cardHeaders?: Readonly<Record<string, string>>;
  /** Headers besides `content-type` and `accept`. */
  readonly headers?: Readonly<Record<string, string>>;
}

/** A minimal JSON-RPC client: reads the card, posts to the card's address, and returns the results. */
export class RpcScript {
  readonly card: Json;
  readonly #url: string;
  readonly #headers: Readonly<Record<string, string>>;
  #lastId = 0;

  private constructor(card: Json, url: string, headers: Readonly<Record<string, string>>) {
    this.card = card;
    this.#url = url;
    this.#headers = headers;
  }

  /** `addressOf` selects the address from the card. */
  static async open(
    agentUrl: string,
    { cardPath, cardHeaders = {}, headers = {} }: Requests,
    addressOf: (card: Json) => string = (card) => String(card.url),
  ): Promise<RpcScript> {
    const response = await fetch(`${agentUrl}${cardPath}`, { headers: { accept: "application/json", ...cardHeaders } });
    if (!response.ok) throw new Error(`The card request was answered with ${response.status}.`);
    const card: Json = await response.json();
    return new RpcScript(card, addressOf(card), headers);
  }

  /** The result of a call. Throws if the response is an error. */
  async call(method: string, params: object): Promise<Json> {
    const response = await this.#post(method, params, "application/json");
    const answer: Json = await response.json();
    if (answer.error !== undefined) throw new Error(`${answer.error.code}: ${answer.error.message}`);
    return answer.result;
  }

  /** The results of a stream, one by one. Throws if one of them is an error. */
  async *stream(method: string, params: object): AsyncGenerator<Json> {
    const response = await this.#post(method, params, "text/event-stream");
    for await (const data of eventsOf(response)) {
      const answer: Json = JSON.parse(data);
      if (answer.error !== undefined) throw new Error(`${answer.error.code}: ${answer.error.message}`);
      yield answer.result;
    }
  }

  async #post(method: string, params: object, accept: string): Promise<Response> {
    const response = await fetch(this.#url, {
      method: "POST",
      headers: { "content-type": "application/json", accept, ...this.#headers },
      body: JSON.stringify({ jsonrpc: "2.0", id: ++this.#lastId, method, params }),
    });
    if (!response.ok) throw new Error(`${method} was answered with ${response.status}: ${await response.text()}`);
    return response;
  }
}

/** The data of server-sent events. */
export async function* eventsOf(response: Response): AsyncGenerator<string> {
  if (response.headers.get("content-type")?.startsWith("text/event-stream") !== true || response.body === null) {
    throw new Error(`The response is not a stream: ${await response.text()}`);
  }
  let rest = "";
  for await (const chunk of response.body.pipeThrough(new TextDecoderStream())) {
    const blocks = `${rest}${chunk}`.split(/\r?\n\r?\n/);
    rest = blocks.pop() ?? "";
    for (const block of blocks) {
      const lines = block.split(/\r?\n/).filter((line) => line.startsWith("data:"));
      if (lines.length > 0) yield lines.map((line) => line.slice("data:".length).trimStart()).join("\n");
    }
  }
}

/** The texts of all artifacts of a 0.2 or 0.3 task, part by part. */
export function artifactTexts(task: Json): readonly string[] {
  return elementsOf(task.artifacts).flatMap((artifact) =>
    elementsOf(artifact.parts)
      .filter((part) => part.kind === "text")
      .map((part) => String(part.text)),
  );
}
