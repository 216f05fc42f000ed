import { connect, RemoteError } from "palaver/client";
import { createOutgoing } from "palaver/outgoing";
import { expect, it } from "vitest";
import { openSite } from "./own-server.ts";

it("streams through the guarded fetch", async () => {
  const { url, close } = await openSite();
  const outgoing = createOutgoing({
    http: true,
    allow: ["loopback"],
    timeout: Number.POSITIVE_INFINITY,
    maxBytes: Number.POSITIVE_INFINITY,
  });
  try {
    const agent = await connect(url, { fetch: outgoing.fetch });
    let text = "";
    for await (const event of agent.stream("count 500")) {
      if (event.kind === "artifact") text += event.artifact.parts.map((part) => part.text ?? "").join("");
    }
    expect(text.trim().split(" ")).toHaveLength(500);
  } finally {
    outgoing.close();
    await close();
  }
});

it("does not call a host that the guarded fetch refuses, whatever its name resolves to", async () => {
  const { url, close } = await openSite();
  const { port } = new URL(url);
  const outgoing = createOutgoing({ http: true, ports: [Number(port)], lookup: async () => ["127.0.0.1"] });
  try {
    const refused = connect(`http://agents.example.com:${port}`, { fetch: outgoing.fetch, retry: { attempts: 0 } });
    await expect(refused).rejects.toBeInstanceOf(RemoteError);
    await expect(refused).rejects.toThrow(/public|private|must not|not be (called|reached)/i);
  } finally {
    outgoing.close();
    await close();
  }
});
