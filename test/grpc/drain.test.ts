import { once } from "node:events";
import { status } from "@grpc/grpc-js";
import { afterEach, beforeEach, expect, it } from "vitest";
import { fixture, until, Workbench } from "../e2e/workbench.ts";
import { openSession, SERVICE_1_0 } from "./call.ts";
import { connectByReflection, type Loose } from "./reflected-client.ts";

let bench: Workbench;
beforeEach(() => {
  bench = new Workbench();
});
afterEach(() => bench.close());

const message = (said: string) => ({ messageId: said, role: "ROLE_USER", parts: [{ text: said }] });
const settled = (promise: Promise<unknown>) =>
  promise.then(
    () => status.OK,
    (error: Loose) => error.code as number,
  );

it("A server that received SIGTERM refuses new gRPC calls, ends streams with UNAVAILABLE, reports NOT_SERVING, sends GOAWAY and exits with 0", async () => {
  const server = await bench.serve([fixture("ten-events.ts"), "--store", "sqlite:tasks.db", "--drain-timeout", "1"]);
  const client = await connectByReflection({ target: new URL(server.url).host });
  const session = await openSession(server.url);
  const goneAway = once(session, "goaway");
  const events: Loose[] = [];
  const stream = client.stream(`${SERVICE_1_0}/SendStreamingMessage`, { message: message("streamed") });
  const streamed = settled(
    (async () => {
      for await (const event of stream) events.push(event);
    })(),
  );
  const health: Loose[] = [];
  const watched = settled(
    (async () => {
      for await (const answer of client.stream("grpc.health.v1.Health/Watch", { service: "" })) health.push(answer);
    })(),
  );
  await until(() => events.length === 2 && health.length === 1);
  server.signal("SIGTERM");
  const late = () =>
    settled(
      client.call(`${SERVICE_1_0}/SendMessage`, {
        message: message(crypto.randomUUID()),
        configuration: { returnImmediately: true },
      }),
    );
  let refusal = await late();
  // The signal may not have arrived yet.
  while (refusal === status.OK) refusal = await late();
  expect(refusal).toBe(status.UNAVAILABLE);
  expect(await streamed).toBe(status.UNAVAILABLE);
  expect(await watched).toBe(status.OK);
  expect(health).toEqual([{ status: "SERVING" }, { status: "NOT_SERVING" }]);
  expect((await goneAway)[0]).toBe(0);
  expect((await server.ended).code).toBe(0);
  client.close();

  const again = await bench.serve([fixture("ten-events.ts"), "--store", "sqlite:tasks.db"]);
  const resumed = await connectByReflection({ target: new URL(again.url).host });
  for (let event = 2; event <= 10; event++) bench.openGate(`streamed-${event}`);
  const { palaverEventId } = events.at(-1);
  const rest = await Array.fromAsync(
    resumed.stream(
      `${SERVICE_1_0}/SubscribeToTask`,
      { id: events[0].task.id },
      { metadata: { "last-event-id": palaverEventId } },
    ),
  );
  const ids = [...events, ...rest.slice(1)].map((event) => Number(event.palaverEventId));
  expect(ids).toEqual(Array.from({ length: 11 }, (_, index) => index));
  resumed.close();
});
