import { faultsOf, type ShapeName } from "./shape.ts";

const RESULTS: Readonly<Record<string, ShapeName>> = {
  SendMessage: "SendMessageResponse",
  SendStreamingMessage: "StreamResponse",
  SubscribeToTask: "StreamResponse",
  GetTask: "Task",
  CancelTask: "Task",
  ListTasks: "ListTasksResponse",
  GetExtendedAgentCard: "AgentCard",
};

/** Looks at everything a server answers a client of somebody else's, and keeps what is wrong with it. */
export class RecordedFetch {
  readonly faults: string[] = [];
  /** Methods that were answered with a result, and how many answers or frames each had. */
  readonly answered: Map<string, number> = new Map();
  readonly #reading: Promise<void>[] = [];

  readonly fetch: typeof fetch = async (input, init) => {
    const response = await fetch(input, init);
    const method = typeof init?.body === "string" ? String(JSON.parse(init.body).method) : undefined;
    this.#reading.push(this.#read(response.clone(), method));
    return response;
  };

  /** Resolves when everything was looked at that has come so far. */
  async settled(): Promise<void> {
    await Promise.all(this.#reading);
  }

  async #read(response: Response, method: string | undefined): Promise<void> {
    if (response.headers.get("content-type")?.startsWith("text/event-stream") !== true) {
      return this.#check(await response.text(), method);
    }
    let rest = "";
    const decoder = new TextDecoder();
    try {
      for await (const chunk of response.body ?? []) {
        const lines = (rest + decoder.decode(chunk, { stream: true })).split("\n");
        rest = lines.pop() ?? "";
        for (const line of lines) if (line.startsWith("data: ")) this.#check(line.slice(6), method);
      }
    } catch {
      // The client left. What came before was looked at.
    }
  }

  #check(text: string, method: string | undefined): void {
    const body: unknown = JSON.parse(text);
    if (method === undefined) return void this.faults.push(...faultsOf("AgentCard", body));
    this.faults.push(...faultsOf("Answer", body, method));
    if (typeof body !== "object" || body === null || !("result" in body)) return;
    this.answered.set(method, (this.answered.get(method) ?? 0) + 1);
    const shape = RESULTS[method];
    this.faults.push(...(shape === undefined ? [`${method} is unknown`] : faultsOf(shape, body.result, method)));
  }
}
