import { describe, expect, it } from "vitest";
import { copyOf } from "./copy-call.ts";
import { takeFrames, type WireCall, type WireFrame } from "./wire-log.ts";

const AGENT = "http://127.0.0.1:3000/agents/echo/";
const call = (body: object | undefined, changes: Partial<WireCall> = {}): WireCall => ({
  number: 1,
  method: body === undefined ? "GET" : "POST",
  url: AGENT,
  headers: { "content-type": "application/json", authorization: "$CREDENTIAL" },
  body: body === undefined ? "" : JSON.stringify(body),
  startedAt: 0,
  frames: [],
  ...changes,
});
const message = { messageId: "m", role: "ROLE_USER", parts: [{ text: "it's $(rm -rf) `x`" }], contextId: "c-1" };

describe("copying a call", () => {
  it("quotes texts for the shell, and the credential is a variable", () => {
    const text = copyOf(
      call({ jsonrpc: "2.0", id: 1, method: "SendStreamingMessage", params: { message } }),
      "curl",
      AGENT,
    );
    expect(text).toContain(String.raw`it'\''s $(rm -rf)`);
    expect(text).toContain('-H "authorization: $CREDENTIAL"');
  });

  it("names the context and the task, for messages of JSON-RPC and of REST", () => {
    for (const body of [
      { jsonrpc: "2.0", method: "message/send", params: { message } },
      { message: { ...message, taskId: "t-1" } },
    ]) {
      const command = copyOf(call(body), "cli", AGENT);
      expect(command).toContain("`x`' -a http://127.0.0.1:3000/agents/echo/ --context-id c-1");
      expect(copyOf(call(body), "typescript", AGENT)).toContain('contextId: "c-1"');
    }
  });

  it.each([
    [call({ jsonrpc: "2.0", method: "CancelTask", params: { id: "t-1" } }), "palaver task cancel t-1"],
    [call({ jsonrpc: "2.0", method: "SubscribeToTask", params: { id: "t-1" } }), "palaver task subscribe t-1"],
    [call(undefined, { url: `${AGENT}tasks/t-1` }), "palaver task get t-1"],
    [call(undefined, { url: `${AGENT}.well-known/agent-card.json` }), "palaver card get"],
    [call({ jsonrpc: "2.0", method: "ListTasks", params: {} }), "palaver task list"],
  ])("knows what other calls mean", (wire, command) => {
    expect(copyOf(wire, "cli", AGENT)).toContain(command);
  });
});

describe("recorded frames", () => {
  it("are complete events, in any pieces", () => {
    const frames: WireFrame[] = [];
    let rest = "";
    for (const piece of ["id: 1\nda", 'ta: {"a":1}\n', "\n: heartbeat\n\nid: 2\r\ndata: x\r\n\r", "\ndata: unfinished"])
      rest = takeFrames(rest + piece, (frame) => frames.push(frame));
    expect(frames).toEqual([
      { id: "1", data: '{"a":1}' },
      { id: "2", data: "x" },
    ]);
    expect(rest).toBe("data: unfinished");
  });
});
