import { expect, test } from "vitest";
import { SILENT_LOGGER } from "../../internal/logger.ts";
import type { Exchange, Reply } from "../exchange.ts";
import { lazyGrpc } from "./lazy-endpoint.ts";

const CALL = "/lf.a2a.v1.A2AService/GetTask";

function exchange(target: string, contentType?: string): Exchange {
  return {
    method: "POST",
    target,
    header: (name) => (name === "content-type" ? contentType : undefined),
    body: () => Promise.reject(new Error("There is no body.")),
    signal: new AbortController().signal,
    remote: undefined,
  };
}

const reply = (body: string): Reply => ({ status: 200, headers: {}, body });

/** What answers requests, and how often gRPC was loaded. The first `failures` times loading fails. */
function served(failures = 0) {
  let loads = 0;
  const answer = lazyGrpc(
    async () => {
      loads += 1;
      if (loads <= failures) throw new Error("broken package");
      return { accepts: ({ target }) => target === CALL, handle: () => Promise.resolve(reply("grpc")) };
    },
    () => Promise.resolve(reply("other")),
    SILENT_LOGGER,
  );
  return { answer, loads: () => loads };
}

test("requests that are no gRPC calls do not load gRPC", async () => {
  const { answer, loads } = served();
  for (const target of ["/", "/agents/echo/v1/message:send", "/.well-known/agent-card.json", "/v1/tasks/a.b/c"])
    expect(await answer(exchange(target, "application/json"))).toMatchObject({ body: "other" });
  expect(loads()).toBe(0);
});

test("calls at the same time load gRPC once, also one with a wrong content type", async () => {
  const { answer, loads } = served();
  const calls = [exchange(CALL), exchange(CALL, "application/grpc")];
  expect(await Promise.all(calls.map(answer))).toMatchObject([{ body: "grpc" }, { body: "grpc" }]);
  expect(await answer(exchange("/other.Service/Method", "application/grpc"))).toMatchObject({ body: "other" });
  expect(loads()).toBe(1);
});

test("a call ends with UNAVAILABLE if gRPC cannot be loaded, and the next one tries again", async () => {
  const { answer } = served(1);
  expect(await answer(exchange(CALL))).toMatchObject({ headers: { "grpc-status": "14" } });
  expect(await answer(exchange(CALL))).toMatchObject({ body: "grpc" });
});
