import { describe, expect, it } from "vitest";
import { connect } from "../../src/client.ts";
import { agent, createServer } from "../../src/index.ts";
import { SILENT_LOGGER } from "../../src/internal/logger.ts";

const echo = agent({ name: "Echo", description: "Echoes.", version: "1", run: async (task) => task.text });

describe("an agent that no longer listens", () => {
  it("is reported as unreachable, even if some dialects of its card cannot stream", async () => {
    const server = createServer(echo, { port: 0, store: "memory:", logger: SILENT_LOGGER });
    const { url } = await server.listen();
    const remote = await connect(url, { retry: { attempts: 1 } });
    expect(remote.card.interfaces.map(({ binding }) => binding)).toContain("urn:palaver:binding:plain");
    await server.close();
    await expect(remote.stream("x").result()).rejects.toMatchObject({ code: "network" });
    await expect(remote.send("x")).rejects.toMatchObject({ code: "network" });
  });
});
