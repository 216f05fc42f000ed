import { describe, expect, it } from "vitest";
import { agent } from "../engine/agent/agent.ts";
import { banner, plainBanner } from "./banner.ts";

const facts = {
  url: "http://127.0.0.1:3000",
  publicUrl: "http://127.0.0.1:3000",
  interfaces: [
    { binding: "JSONRPC", protocolVersion: "1.0" },
    { binding: "HTTP+JSON", protocolVersion: "1.0" },
    { binding: "JSONRPC", protocolVersion: "0.9" },
    { binding: "urn:example:binding:simple", protocolVersion: "2.0" },
  ],
  agents: [
    agent({ name: "Echo", description: "d", version: "1", run: async () => {} }),
    agent({ id: "down", name: "Countdown", description: "d", version: "1", run: async () => {} }),
  ],
  storage: "/data/palaver.db",
  version: "1.2.3",
  pid: 4711,
  schemes: {},
};

describe.each([
  ["on a terminal", banner],
  ["in a log", plainBanner],
])("the banner %s", (_, render) => {
  const text = render(facts);

  it.each([
    "Palaver 1.2.3 is listening on http://127.0.0.1:3000\n",
    "http://127.0.0.1:3000/agents/echo/\n",
    "http://127.0.0.1:3000/agents/down/\n",
    "http://127.0.0.1:3000/.well-known/agent-card.json\n",
    "A2A over JSON-RPC 1.0, 0.9 · REST 1.0 · simple 2.0\n",
    "/data/palaver.db\n",
    "4711\n",
  ])("contains %j", (fact) => {
    expect(text).toContain(fact);
  });

  it("names the required credentials and where a request carries them", () => {
    expect(text).not.toMatch(/Callers/);
    const secured = render({
      ...facts,
      schemes: { key: { type: "apiKey", in: "header", name: "X-API-Key" }, cert: { type: "mutualTLS" } },
    });
    expect(secured).toMatch(/Callers:? +authenticate with key \(header X-API-Key\) or cert \(a client certificate\)\n/);
    expect(secured).toContain("-H 'X-API-Key: …'");
  });

  it("has one curl command per binding, with JSON that needs no escaping in a shell", () => {
    const bodies = Array.from(text.matchAll(/-d '([^']*)'/g), ([, body = ""]): unknown => JSON.parse(body));
    expect(bodies).toEqual([
      expect.objectContaining({ method: "SendMessage", params: { message: expect.anything() } }),
      { message: expect.objectContaining({ role: "ROLE_USER" }) },
    ]);
  });

  it("has no curl command for versions and bindings that the server does not support", () => {
    const older = facts.interfaces.filter(({ protocolVersion }) => protocolVersion === "0.9");
    expect(render({ ...facts, interfaces: older })).not.toMatch(/Try|curl/);
    const rest = facts.interfaces.filter(({ binding }) => binding === "HTTP+JSON");
    expect(render({ ...facts, interfaces: rest }).match(/curl/g)).toHaveLength(1);
  });

  it("shows the public URL only if it differs from the local URL", () => {
    expect(text).not.toMatch(/public/i);
    expect(render({ ...facts, publicUrl: "https://agents.example.org" })).toMatch(
      /Public:? +https:\/\/agents\.example\.org\n/,
    );
  });
});
