import { describe, expect, it } from "vitest";
import { connect } from "../../src/client/connect.ts";
import { agent, createServer } from "../../src/index.ts";
import { SILENT_LOGGER } from "../../src/internal/logger.ts";
import type { AgentInterface } from "../../src/protocol/card.ts";
import type { MessageId, TaskId } from "../../src/protocol/ids.ts";

const nameOf = ({ binding, protocolVersion }: AgentInterface): string => `${binding} ${protocolVersion}`;

const WITH_IDS = ["JSONRPC 1.0", "HTTP+JSON 1.0", "JSONRPC 0.3", "HTTP+JSON 0.3", "JSONRPC 0.2", "GRPC 1.0"];

describe("a message that is repeated over another interface", () => {
  it("is one task, over every interface that has message ids", async () => {
    const server = createServer(agent({ name: "Echo", description: "Echoes.", version: "1", run: async () => "ok" }), {
      ...{ store: "memory:", port: 0, logger: SILENT_LOGGER, drainTimeout: 0 },
      idempotency: { window: 60_000 },
    });
    try {
      const { card } = await connect((await server.listen()).url);
      const ways = card.interfaces.filter((way) => WITH_IDS.includes(nameOf(way)));
      expect(ways.map(nameOf).toSorted()).toEqual(WITH_IDS.toSorted());
      const send = async (way: AgentInterface, messageId: string): Promise<string> => {
        const client = await connect({ ...card, interfaces: [way] });
        const message = {
          messageId: messageId as MessageId,
          parts: [{ text: "go" }, { data: { list: [1, 2.5, null] } }],
          referenceTaskIds: ["01990000-0000-7000-8000-000000000001" as TaskId],
        };
        const sent = await client.send(message, { contextId: "a-context", metadata: { note: "x" } });
        return sent.kind === "task" ? sent.task.id : "";
      };
      for (const first of ways) {
        const ids = new Set<string>();
        for (const way of [first, ...ways]) ids.add(await send(way, `message of ${nameOf(first)}`));
        expect([nameOf(first), ids.size]).toEqual([nameOf(first), 1]);
      }
    } finally {
      await server.close();
    }
  });
});
