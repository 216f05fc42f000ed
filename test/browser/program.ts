// The program of the page. It is bundled for the browser, so it must not import Node modules.
import { connect, RemoteError, type RemoteStream, textOf } from "palaver/client";

/** The functions that a test can call in the page; each returns JSON. */
export const program = {
  async send(url: string, text: string): Promise<string> {
    const sent = await (await connect(url)).send(text);
    return sent.kind === "task" ? textOf(sent.task.artifacts?.[0]?.parts ?? []) : textOf(sent.message.parts);
  },

  /**
   * Fetches the card from one address and streams from another, sends "go" after the first chunk, and returns all
   * chunks.
   */
  async stream(url: string, via: string, text: string): Promise<{ chunks: string[]; states: string[] }> {
    const direct = await connect(url);
    const { card } = direct;
    const interfaces = card.interfaces.map((way) => ({ ...way, url: way.url.replace(url, via) }));
    const retry = { reconnects: 20, baseDelay: 1, maxDelay: 5 };
    let going: Promise<unknown> | undefined;
    const seen = await read((await connect({ ...card, interfaces }, { retry })).stream(text), (chunks) => {
      if (chunks.length > 0) going ??= direct.send("go");
    });
    await going;
    return seen;
  },

  /** Subscribes to a running task, and cancels it after the first event. */
  async subscribe(url: string, text: string): Promise<{ chunks: string[]; states: string[] }> {
    const remote = await connect(url);
    const sent = await remote.send(text, { wait: false });
    if (sent.kind !== "task") throw new Error("Expected a task.");
    const task = remote.task(sent.task.id);
    let cancelled: Promise<unknown> | undefined;
    const seen = await read(task.subscribe(), () => {
      cancelled ??= task.cancel();
    });
    await cancelled;
    return seen;
  },

  async state(url: string, text: string): Promise<string> {
    const sent = await (await connect(url)).send(text);
    return sent.kind === "task" ? sent.task.status.state : sent.kind;
  },

  async unknownTask(url: string): Promise<string> {
    const remote = await connect(url);
    return codeOf(remote.task("no-such-task").get());
  },

  async refusedSend(url: string): Promise<string> {
    const remote = await connect(url, { retry: { attempts: 1 } });
    return codeOf(remote.send("hello"));
  },
};

Object.assign(globalThis, { program });

async function read(
  stream: RemoteStream,
  onEvent: (chunks: readonly string[]) => void,
): Promise<{ chunks: string[]; states: string[] }> {
  const chunks: string[] = [];
  const states: string[] = [];
  for await (const event of stream) {
    if (event.kind === "artifact") chunks.push(textOf(event.artifact.parts));
    if (event.kind === "status") states.push(event.status.state);
    onEvent(chunks);
  }
  return { chunks: chunks.filter((text) => text !== ""), states };
}

async function codeOf(call: Promise<unknown>): Promise<string> {
  try {
    await call;
    return "no error";
  } catch (error) {
    return error instanceof RemoteError ? error.code : String(error);
  }
}
