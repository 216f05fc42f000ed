import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { CommandLine } from "./command-line.ts";

let line: CommandLine;
beforeEach(() => {
  line = new CommandLine();
});
afterEach(() => line.close());

interface Frame {
  readonly id: number;
  readonly result: {
    readonly task?: { readonly id: string };
    readonly artifactUpdate?: {
      readonly artifact: { readonly parts: readonly { readonly text: string }[] };
      readonly append?: boolean;
    };
    readonly statusUpdate?: { readonly status: { readonly state: string } };
  };
}

describe("a countdown whose server is killed and restarted", () => {
  it("continues, and a reader that reconnects receives every event exactly once", async () => {
    const args = ["--demo"];
    const first = await line.serve(args);
    const message = { messageId: "m-1", role: "ROLE_USER", parts: [{ text: "4" }] };
    const before: Frame[] = [];
    for await (const frame of stream(first.url, { method: "SendStreamingMessage", params: { message } })) {
      before.push(frame);
      if (textOf(before).includes("3")) break;
    }
    await first.kill("SIGKILL");
    const id = before[0]?.result.task?.id;

    const second = await line.serve(args);
    const after: Frame[] = [];
    const last = before.at(-1)?.id;
    const subscribe = { method: "SubscribeToTask", params: { id } };
    for await (const frame of stream(second.url, subscribe, { "last-event-id": String(last) })) after.push(frame);
    const [opening, ...rest] = after;
    expect(opening?.result.task?.id).toBe(id);
    const events = [...before, ...rest].filter(({ result }) => result.task === undefined);
    const [firstEvent] = events;
    expect(events.map((frame) => frame.id)).toEqual(events.map((_, index) => (firstEvent?.id ?? 0) + index));
    expect(textOf(events)).toBe("4 3 2 1 Lift-off!");
    expect(events.at(-1)?.result.statusUpdate?.status.state).toBe("TASK_STATE_COMPLETED");
  });
});

function textOf(frames: readonly Frame[]): string {
  return frames.flatMap(({ result }) => result.artifactUpdate?.artifact.parts.map(({ text }) => text) ?? []).join("");
}

async function* stream(
  url: string,
  call: { readonly method: string; readonly params: object },
  headers: Record<string, string> = {},
): AsyncGenerator<Frame> {
  const response = await fetch(`${url}/agents/countdown/`, {
    method: "POST",
    headers: { "content-type": "application/json", "a2a-version": "1.0", ...headers },
    body: JSON.stringify({ jsonrpc: "2.0", id: 1, ...call }),
  });
  let text = "";
  const decoder = new TextDecoder();
  for await (const chunk of response.body ?? []) {
    text += decoder.decode(chunk, { stream: true });
    const blocks = text.split("\n\n");
    text = blocks.pop() ?? "";
    for (const block of blocks) {
      const id = /^id: ?(\d+)$/m.exec(block)?.[1];
      const data = /^data: ?(.*)$/m.exec(block)?.[1];
      if (id !== undefined && data !== undefined) yield { result: JSON.parse(data).result, id: Number(id) };
    }
  }
}
