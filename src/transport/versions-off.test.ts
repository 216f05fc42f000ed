import { expect, it } from "vitest";
import { describeFaces, type Loose, type Site, textMessage } from "./test/faces.ts";

const OLDER_SEND = { message: { messageId: "1", role: "user", parts: [{ kind: "text", text: "hello" }] } };
const EARLIEST_SEND = { id: "t", message: { role: "user", parts: [{ type: "text", text: "hello" }] } };

/** What a server that speaks only some versions answers to a send in each. */
async function answers(site: Site): Promise<Readonly<Record<string, unknown>>> {
  const answerTo = async (method: string, params: object, version: string): Promise<unknown> => {
    const { error } = await site.call(method, params, { "a2a-version": version });
    return error?.code ?? "answered";
  };
  const status = async (line: string, body: object): Promise<number> => (await site.rest(line, body)).status;
  return {
    "1.0": await answerTo("SendMessage", textMessage("hello"), "1.0"),
    "0.3": await answerTo("message/send", OLDER_SEND, "0.3"),
    "0.2": await answerTo("message/send", OLDER_SEND, "0.2"),
    "0.1": await answerTo("tasks/send", EARLIEST_SEND, "0.1"),
    "no version, 0.2 or 0.3": await answerTo("message/send", OLDER_SEND, ""),
    "no version, 0.1": await answerTo("tasks/send", { ...EARLIEST_SEND, id: "u" }, ""),
    "REST 1.0": await status("POST /message:send", textMessage("hello")),
    "REST 0.3": await status("POST /v1/message:send", OLDER_SEND),
    plain: await status("POST /a2a/tasks/send", { message: "hello" }),
  };
}

interface Versioned {
  readonly protocolVersion: string;
}

const NOT_SUPPORTED = -32009;
const NO_METHOD = -32601;

describeFaces("A server that speaks some versions only", (open) => {
  it("supports only the methods and paths of 1.0", async () => {
    const site = await open({ dialects: { versions: ["1.0"] } });
    expect(await answers(site)).toEqual({
      ...{ "1.0": "answered", "0.3": NOT_SUPPORTED, "0.2": NOT_SUPPORTED, "0.1": NOT_SUPPORTED },
      ...{ "no version, 0.2 or 0.3": NO_METHOD, "no version, 0.1": NO_METHOD },
      ...{ "REST 1.0": 200, "REST 0.3": 404, plain: 404 },
    });
  });

  it("supports only the methods and paths of 0.3 and the plain dialect", async () => {
    const site = await open({ dialects: { versions: ["plain", "0.3"] } });
    expect(await answers(site)).toMatchObject({
      ...{ "0.3": "answered", "no version, 0.2 or 0.3": "answered", "no version, 0.1": NO_METHOD },
      ...{ "REST 1.0": 404, "REST 0.3": 200, plain: 200 },
    });
    expect(site.engine.submissions.map(({ call }) => call.dialect)).toEqual([
      ...["0.3/jsonrpc", "0.3/jsonrpc", "0.3/rest-json", "plain"],
    ]);
  });

  it("serves only JSON-RPC if no version has REST, and answers other paths with 404", async () => {
    const site = await open({ dialects: { versions: ["0.1"] } });
    const { "0.1": named, "no version, 0.1": silent, ...others } = await answers(site);
    expect([named, silent]).toEqual(["answered", "answered"]);
    expect(Object.values(others)).not.toContain("answered");
    expect(others).toMatchObject({ "REST 1.0": 404, "REST 0.3": 404, plain: 404 });
    for (const line of ["GET /nothing", "GET /tasks", "GET /agents/echo/tasks/x", "POST /tenant/message:send"]) {
      const response = await site.rest(line);
      const { error } = (await response.json()) as { readonly error: Loose };
      expect([line, response.status, error.message]).toEqual([line, 404, "Path not found"]);
    }
    expect((await site.rest("POST /healthz", {})).status).toBe(405);
    expect((await site.request("/healthz")).status).toBe(200);
  });

  it("announces no other version in its cards", async () => {
    const versions = async (options: readonly string[]): Promise<unknown> => {
      const site = await open({ dialects: { versions: options } });
      const card: { supportedInterfaces?: readonly Versioned[] } & Partial<Versioned> = await site.ask(
        "GET /.well-known/agent-card.json",
      );
      return [card.supportedInterfaces?.map(({ protocolVersion }) => protocolVersion), card.protocolVersion];
    };
    expect(await versions(["1.0"])).toEqual([["1.0", "1.0"], undefined]);
    expect(await versions(["0.3"])).toEqual([undefined, expect.stringMatching(/^0\.3/)]);
    expect(await versions(["0.2", "0.1"])).toEqual([undefined, expect.stringMatching(/^0\.2/)]);
  });
});
