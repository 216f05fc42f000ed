import { once } from "node:events";
import { createServer, type Http2Server, type ServerHttp2Stream } from "node:http2";
import { afterEach, describe, expect, it } from "vitest";
import type { AgentCard } from "../../protocol/card.ts";
import type { TaskId } from "../../protocol/ids.ts";
import { FakeClock } from "../../testing/fake-clock.ts";
import { clientSettings } from "../http/settings.ts";
import { openGrpc } from "./open-grpc.ts";

let server: Http2Server | undefined;
const signal = AbortSignal.timeout(20_000);
afterEach(() => server?.close());

/** Subscribes to a task on a server that answers as given. */
async function subscribe(clock: FakeClock, answer: (stream: ServerHttp2Stream) => void) {
  server = createServer();
  server.on("stream", (stream) => {
    stream.on("error", () => undefined);
    answer(stream);
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const address = server.address();
  const port = typeof address === "object" ? address?.port : undefined;
  const at = { url: `http://127.0.0.1:${port}`, binding: "GRPC", protocolVersion: "1.0" };
  const card: AgentCard = {
    name: "Silent",
    description: "Answers nothing.",
    version: "1.0.0",
    interfaces: [at],
    capabilities: { streaming: true },
    defaultInputModes: [],
    defaultOutputModes: [],
    skills: [],
  };
  const channel = await openGrpc({ card, at, settings: clientSettings({ clock, idleTimeout: 1000 }) });
  return channel.open(channel.prepare({ operation: "subscribe", tenant: "", id: "t" as TaskId }), { signal });
}

describe("With an idle limit, a gRPC stream is broken", () => {
  it("if the head does not come in time", async () => {
    const clock = new FakeClock();
    const arrived = Promise.withResolvers<void>();
    const opened = subscribe(clock, () => arrived.resolve());
    const failed = expect(opened).rejects.toMatchObject({
      code: "network",
      message: "The stream has been silent for 1000 ms.",
    });
    await arrived.promise;
    await clock.advance(1000);
    await failed;
  });

  it("if no event comes in time after the head", async () => {
    const clock = new FakeClock();
    const opened = await subscribe(clock, (stream) =>
      stream.respond({ ":status": 200, "content-type": "application/grpc" }),
    );
    if (opened.kind !== "stream") throw new Error("There is no stream.");
    const failed = expect(opened.stream.next()).rejects.toMatchObject({
      code: "network",
      message: "The stream has been silent for 1000 ms.",
    });
    await clock.advance(1000);
    await failed;
  });
});
