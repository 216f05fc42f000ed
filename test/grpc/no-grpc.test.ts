import { afterEach, beforeEach, expect, it } from "vitest";
import { fixture, Workbench } from "../e2e/workbench.ts";
import { openSession, rawCall, SERVICE_1_0 } from "./call.ts";
import { EMPTY_MESSAGE } from "./protobuf.ts";

let bench: Workbench;
beforeEach(() => {
  bench = new Workbench();
});
afterEach(() => bench.close());

it("`--no-grpc` leaves gRPC out of the card and of the port, and serves the rest", async () => {
  const server = await bench.serve([fixture("ten-events.ts"), "--store", "memory:", "--no-grpc"]);
  const card = await (await fetch(`${server.url}/.well-known/agent-card.json`)).text();
  expect(card).toContain("JSONRPC");
  expect(card).not.toContain("GRPC");
  const session = await openSession(server.url);
  const { http, grpc } = await rawCall(session, { path: `/${SERVICE_1_0}/GetTask`, body: EMPTY_MESSAGE });
  expect([http, grpc]).toEqual([404, undefined]);
  session.destroy();
  expect(server.stderr()).not.toContain("gRPC");
});
