import { type ReadonlySignal, signal } from "@preact/signals";

/** One event of a stream, as received. */
export interface WireFrame {
  /** The `id:` of the event; empty if it has none. */
  readonly id: string;
  readonly data: string;
}

/** One request of the chat, and its answer. */
export interface WireCall {
  readonly number: number;
  readonly method: string;
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
  readonly startedAt: number;
  /** Absent: no answer yet. */
  readonly status?: number;
  /** Absent: the answer has not ended. */
  readonly ms?: number;
  /** The answer, if it is not a stream. */
  readonly text?: string;
  readonly frames: readonly WireFrame[];
  readonly failure?: string;
}

/** Calls and frames that are kept; older ones are dropped. */
const MOST_CALLS = 100;
const MOST_FRAMES = 500;
const SECRET_HEADERS = /^(?:authorization|cookie|proxy-authorization|.*(?:api-?key|token|secret).*)$/i;

/** The requests of one chat. */
export interface WireLog {
  readonly calls: ReadonlySignal<readonly WireCall[]>;
  /** As `fetch`, but what is sent and received is recorded. */
  readonly fetch: typeof fetch;
}

/** Secrets are replaced before they are recorded. `send`: makes the requests. `credential`: a secret that URLs may contain. */
export function createWireLog(send: typeof fetch = fetch, credential: string = ""): WireLog {
  const calls = signal<readonly WireCall[]>([]);
  let last = 0;
  let pending: Map<number, Partial<WireCall>> = new Map();
  let isScheduled = false;
  // Many frames may arrive in one picture of the screen.
  const update = (number: number, change: (call: WireCall) => Partial<WireCall>): void => {
    const current = calls.peek().find((call) => call.number === number);
    if (current === undefined) return;
    const merged = { ...current, ...pending.get(number) };
    pending.set(number, { ...pending.get(number), ...change(merged) });
    if (isScheduled) return;
    isScheduled = true;
    setTimeout(() => {
      isScheduled = false;
      const changes = pending;
      pending = new Map();
      calls.value = calls.peek().map((call) => ({ ...call, ...changes.get(call.number) }));
    }, 30);
  };
  const record = async (input: RequestInfo | URL, init: RequestInit = {}): Promise<Response> => {
    last += 1;
    const number = last;
    const url = input instanceof Request ? input.url : String(input);
    const call: WireCall = {
      number,
      method: init.method ?? "GET",
      url: credential === "" ? url : url.replaceAll(encodeURIComponent(credential), "$CREDENTIAL"),
      headers: masked(new Headers(init.headers)),
      body: typeof init.body === "string" ? init.body : "",
      startedAt: Date.now(),
      frames: [],
    };
    calls.value = [...calls.peek().slice(1 - MOST_CALLS), call];
    try {
      const response = await send(input, init);
      update(number, () => ({ status: response.status }));
      return recorded(response, {
        onFrame: (frame) => update(number, ({ frames }) => ({ frames: [...frames.slice(1 - MOST_FRAMES), frame] })),
        onEnd,
        // The client aborts the request of a stream when it has read enough, such as the last event of a task.
        onFailure: (error) => (init.signal?.aborted === true ? onEnd(undefined) : onFailure(error)),
      });
    } catch (error) {
      onFailure(error);
      throw error;
    }
    function onEnd(answer: string | undefined): void {
      update(number, () => ({ ms: Date.now() - call.startedAt, ...(answer !== undefined && { text: answer }) }));
    }
    function onFailure(error: unknown): void {
      const failure = error instanceof Error ? error.message : String(error);
      update(number, () => ({ ms: Date.now() - call.startedAt, failure }));
    }
  };
  return { calls, fetch: record };
}

function masked(headers: Headers): Readonly<Record<string, string>> {
  return Object.fromEntries(
    Array.from(headers, ([name, value]) => [name, SECRET_HEADERS.test(name) ? "$CREDENTIAL" : value]),
  );
}

interface Recorder {
  readonly onFrame: (frame: WireFrame) => void;
  /** `text`: the whole answer, if it is not a stream. */
  readonly onEnd: (text: string | undefined) => void;
  /** The answer broke off. */
  readonly onFailure: (error: unknown) => void;
}

/** The same response; its body is also decoded for the recorder. */
function recorded(response: Response, { onFrame, onEnd, onFailure }: Recorder): Response {
  const { body } = response;
  if (body === null || response.type === "opaqueredirect") {
    onEnd("");
    return response;
  }
  const isStream = response.headers.get("content-type")?.startsWith("text/event-stream") === true;
  const decoder = new TextDecoder();
  let text = "";
  const end = (): void => onEnd(isStream ? undefined : text);
  const reader = body.getReader();
  const observed = new ReadableStream<Uint8Array>({
    async pull(controller) {
      const { done, value } = await reader.read().catch((error: unknown) => {
        onFailure(error);
        throw error;
      });
      // The client may have left meanwhile. Then the controller throws, which is no failure of the answer.
      if (done) {
        end();
        controller.close();
        return;
      }
      text += decoder.decode(value, { stream: true });
      if (isStream) text = takeFrames(text, onFrame);
      controller.enqueue(value);
    },
    // Browsers do not report this to a TransformStream.
    async cancel(reason) {
      end();
      await reader.cancel(reason);
    },
  });
  const copy = new Response(observed, {
    status: response.status,
    statusText: response.statusText,
    headers: response.headers,
  });
  // The constructor does not take them.
  Object.defineProperties(copy, { url: { value: response.url }, redirected: { value: response.redirected } });
  return copy;
}

/** Reports the complete events in a text; returns the incomplete rest. */
export function takeFrames(text: string, onFrame: (frame: WireFrame) => void): string {
  const events = text.split(/\r?\n\r?\n/);
  const rest = events.pop() ?? "";
  for (const event of events) {
    const lines = event.split(/\r?\n/);
    const data = lines.filter((line) => line.startsWith("data:")).map((line) => line.slice(5).trimStart());
    const id =
      lines
        .find((line) => line.startsWith("id:"))
        ?.slice(3)
        .trim() ?? "";
    if (data.length > 0) onFrame({ id, data: data.join("\n") });
  }
  return rest;
}
