import { describe, expect, it } from "vitest";
import type { A2AError } from "../protocol/error.ts";
import type { Exchange, FullReply, PullSource, Reply } from "./exchange.ts";
import { PathTree } from "./rest/path-tree.ts";
import { createRoute, dispatch, type Found, type Mount, type Route, Router } from "./router.ts";

function exchangeFor(method: string, target: string): Exchange {
  return {
    method,
    target,
    header: () => undefined,
    body: async () => new Uint8Array(),
    signal: new AbortController().signal,
    remote: undefined,
  };
}

/** Answers with what it was found by. */
function routeNamed(name: string, methods: readonly string[]): Route {
  const handler = (_: Exchange, { captured, mount }: Found): FullReply => ({
    status: 200,
    headers: {},
    body: [name, String(mount), ...captured].join(" "),
  });
  const refuse = (_: Exchange, { code, message }: A2AError): FullReply => ({
    status: code === "method-not-allowed" ? 405 : 404,
    headers: { form: name },
    body: message,
  });
  return createRoute(new Map(methods.map((method) => [method, handler])), { refuse });
}

function mountNamed(name: string): Mount {
  const mount: Mount = () => {
    throw new Error("nobody is served here");
  };
  return Object.assign(mount, { toString: () => name });
}

function routerAt(base: string): Router {
  const plain = new PathTree<Route>();
  const tenanted = new PathTree<Route>();
  for (const [path, methods] of [
    ["/message:send", ["POST"]],
    ["/tasks", ["GET"]],
    ["/tasks/{id}", ["GET"]],
    ["/tasks/{id}:cancel", ["POST"]],
    ["/tasks/{id}:subscribe", ["GET", "POST"]],
    ["/tasks/{id}/configs/{configId}", ["GET", "DELETE"]],
  ] as const) {
    plain.at(path, () => routeNamed(path, methods));
    tenanted.at(path, () => routeNamed(path, methods));
  }
  plain.at("/v1/tasks/{id}", () => routeNamed("/v1/tasks/{id}", ["GET"]));
  const router = new Router(mountNamed("root"), {
    named: { plain, tenanted, notFound: (segment) => routeNamed(segment === "v1" ? "old" : "new", []) },
    basePath: () => base,
  });
  const routes = new Map([
    ["", routeNamed("rpc", ["POST"])],
    ["/a2a", routeNamed("rpc", ["POST"])],
    ["/.well-known/agent-card.json", routeNamed("card", ["GET"])],
  ]);
  router.add(routes);
  router.add(new Map([["/healthz", routeNamed("health", ["GET"])]]));
  router.mount("one", mountNamed("one"), routes);
  router.mount("tasks", mountNamed("agent-called-tasks"), routes);
  return router;
}

async function answerTo(base: string, method: string, target: string): Promise<FullReply> {
  const exchange = exchangeFor(method, target);
  const reply: Reply = await dispatch(routerAt(base).find(exchange), exchange);
  if ("source" in reply) throw new Error("no stream was expected");
  return reply;
}

describe("The router", () => {
  it.each([
    ["POST", "/", "rpc root"],
    ["POST", "/?x=1", "rpc root"],
    ["POST", "?", "rpc root"],
    ["POST", "/a2a", "rpc root"],
    ["POST", "/a2a/", "rpc root"],
    ["POST", "/a2a/?x=/tasks", "rpc root"],
    ["GET", "/.well-known/agent-card.json", "card root"],
    ["GET", "/healthz/", "health root"],
    ["POST", "/agents/one", "rpc one"],
    ["POST", "/agents/one/", "rpc one"],
    ["POST", "/agents/one/a2a", "rpc one"],
    ["POST", "/message:send", "/message:send root"],
    ["POST", "/message:send/", "/message:send root"],
    ["POST", "/message:send?A2A-Version=1.0", "/message:send root"],
    ["GET", "/tasks", "/tasks root"],
    ["GET", "/tasks/", "/tasks root"],
    ["GET", "/tasks?pageSize=1", "/tasks root"],
    ["GET", "/tasks/a", "/tasks/{id} root a"],
    ["HEAD", "/tasks/a", "/tasks/{id} root a"],
    ["GET", "/tasks/a/", "/tasks/{id} root a"],
    ["GET", "/tasks/a?x=/b", "/tasks/{id} root a"],
    ["GET", "/tasks/tasks", "/tasks/{id} root tasks"],
    ["GET", "/tasks/v1", "/tasks/{id} root v1"],
    ["GET", "/tasks/a%2Fb", "/tasks/{id} root a%2Fb"],
    ["POST", "/tasks/a:cancel", "/tasks/{id}:cancel root a"],
    ["GET", "/tasks/a:subscribe", "/tasks/{id}:subscribe root a"],
    ["POST", "/tasks/a:subscribe", "/tasks/{id}:subscribe root a"],
    ["DELETE", "/tasks/a/configs/c", "/tasks/{id}/configs/{configId} root a c"],
    ["GET", "/v1/tasks/a", "/v1/tasks/{id} root a"],
    ["POST", "/acme/message:send", "/message:send root acme"],
    ["GET", "/acme/tasks", "/tasks root acme"],
    ["GET", "/acme/tasks/a", "/tasks/{id} root acme a"],
    ["GET", "/acme%2Feu/tasks/a", "/tasks/{id} root acme%2Feu a"],
    ["DELETE", "/acme/tasks/a/configs/c", "/tasks/{id}/configs/{configId} root acme a c"],
    ["GET", "/agents/one/tasks/a", "/tasks/{id} one a"],
    ["GET", "/agents/one/acme/tasks/a/", "/tasks/{id} one acme a"],
    ["GET", "/agents/one/v1/tasks/a", "/v1/tasks/{id} one a"],
    ["GET", "/agents/tasks/tasks/a", "/tasks/{id} agent-called-tasks a"],
  ])("routes %s %s to %s", async (method, target, expected) => {
    expect(await answerTo("", method, target)).toEqual({ status: 200, headers: {}, body: expected });
  });

  it.each([
    ["/nowhere", "new"],
    ["//", "new"],
    ["///", "new"],
    ["//tasks", "new"],
    ["/tasks//", "new"],
    ["/tasks/:cancel", "new"],
    ["/./tasks", "new"],
    ["/../tasks", "new"],
    ["/tasks/..", "new"],
    ["/acme/../tasks/a", "new"],
    ["/a/b/tasks", "new"],
    ["/agents", "new"],
    ["/agents/", "new"],
    ["/agents//tasks", "new"],
    ["/agents/two/tasks", "new"],
    ["/agents/__proto__/tasks", "new"],
    ["/agents/one/healthz", "new"],
    ["/agents/one/agents/one/tasks", "new"],
    ["/acme/v1/tasks/a", "new"],
    ["/acme/healthz", "new"],
    ["/v1", "old"],
    ["/v1/nowhere", "old"],
    ["/v1/message:send", "old"],
    ["/agents/one/v1/nowhere", "old"],
    ["/\0/tasks\0", "new"],
  ])("answers %j with 404 in the format of %s", async (target, form) => {
    for (const method of ["GET", "POST", "OPTIONS"]) {
      const reply = await answerTo("", method, target);
      expect(reply).toEqual({ status: 404, headers: { form }, body: "Path not found" });
    }
  });

  it.each([
    ["one very long segment", `/${"x".repeat(1_000_000)}`],
    ["a million segments", "/x".repeat(1_000_000)],
    ["a million slashes", "/".repeat(1_000_000)],
  ])("answers %s with 404", async (_name, target) => {
    expect((await answerTo("", "GET", target)).status).toBe(404);
  });

  it.each(
    [
      ...["a2a", "api", "subscribe", "agents", "agent", "v1", ".well-known", "healthz", "readyz", "metrics", "console"],
      ...["tasks", "message:send", "message:stream", "extendedAgentCard"],
    ].map((name) => [name]),
  )("takes no tenant to be called %s", async (name) => {
    // Paths that begin with "tasks" are never tenants, and tasks do not support this verb.
    const status = name === "tasks" ? 405 : 404;
    expect((await answerTo("", "POST", `/${name}/message:send`)).status).toBe(status);
    expect((await answerTo("", "POST", `/agents/one/${name}/message:send`)).status).toBe(status);
    expect((await answerTo("", "POST", `/${name}x/message:send`)).status).toBe(200);
  });

  it.each([
    { method: "GET", target: "/", allow: "POST, OPTIONS", form: "rpc" },
    { method: "DELETE", target: "/a2a", allow: "POST, OPTIONS", form: "rpc" },
    { method: "POST", target: "/healthz", allow: "GET, HEAD, OPTIONS", form: "health" },
    { method: "GET", target: "/message:send", allow: "POST, OPTIONS", form: "/message:send" },
    { method: "HEAD", target: "/message:send", allow: "POST, OPTIONS", form: "/message:send" },
    { method: "POST", target: "/tasks", allow: "GET, HEAD, OPTIONS", form: "/tasks" },
    { method: "GET", target: "/tasks/a:cancel", allow: "POST, OPTIONS", form: "/tasks/{id}:cancel" },
    { method: "PUT", target: "/tasks/a:subscribe", allow: "GET, HEAD, POST, OPTIONS", form: "/tasks/{id}:subscribe" },
    {
      method: "PATCH",
      target: "/acme/tasks/a/configs/c",
      allow: "GET, HEAD, DELETE, OPTIONS",
      form: "/tasks/{id}/configs/{configId}",
    },
    { method: "get", target: "/tasks", allow: "GET, HEAD, OPTIONS", form: "/tasks" },
    { method: "constructor", target: "/tasks", allow: "GET, HEAD, OPTIONS", form: "/tasks" },
  ])("answers $method $target with 405 and Allow: $allow", async ({ method, target, allow, form }) => {
    expect(await answerTo("", method, target)).toEqual({
      status: 405,
      headers: { allow, form },
      body: `This path supports only ${allow}`,
    });
    expect(await answerTo("", "OPTIONS", target)).toEqual({ status: 204, headers: { allow }, body: "" });
  });

  it.each([
    ["/base", "/base", "rpc root"],
    ["/base", "/base/", "rpc root"],
    ["/base", "/base/a2a", "rpc root"],
    ["/base", "/base/tasks/a", "/tasks/{id} root a"],
    ["/base", "/base/acme/tasks/a", "/tasks/{id} root acme a"],
    ["/base", "/base/v1/tasks/a", "/v1/tasks/{id} root a"],
    ["/base", "/base/agents/one/tasks/a", "/tasks/{id} one a"],
    ["/base", "/base/base/tasks/a", "/tasks/{id} root base a"],
    ["/base", "/tasks/a", "/tasks/{id} root a"],
    ["/base", "/v1/tasks/a", "/v1/tasks/{id} root a"],
    ["/base", "/based/tasks/a", "/tasks/{id} root based a"],
    ["/v1", "/v1/tasks/a", "/tasks/{id} root a"],
    ["/v1", "/v1/v1/tasks/a", "/v1/tasks/{id} root a"],
    ["/v1", "/tasks/a", "/tasks/{id} root a"],
    ["/a/b", "/a/b/tasks/a", "/tasks/{id} root a"],
  ])("below the base path %s, routes %s to %s", async (base, target, expected) => {
    const method = expected.startsWith("rpc") ? "POST" : "GET";
    expect(await answerTo(base, method, target)).toMatchObject({ status: 200, body: expected });
  });

  it("answers HEAD for a stream without waiting for the stream", async () => {
    let canceled = 0;
    const source: PullSource = { pull: () => new Promise(() => {}), cancel: () => void canceled++ };
    const route = createRoute(new Map([["GET", () => ({ status: 200, headers: { a: "b" }, source })]]), {
      refuse: routeNamed("x", []).refuse,
    });
    const found = { route, mount: mountNamed("x"), captured: [] };
    const reply = await dispatch(found, exchangeFor("HEAD", "/"));
    expect(reply).toEqual({ status: 200, headers: { a: "b" }, body: "" });
    expect(canceled).toBe(1);
    expect(await dispatch(found, exchangeFor("GET", "/"))).toHaveProperty("source", source);
    expect(canceled).toBe(1);
  });
});
