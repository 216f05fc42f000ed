import { request } from "node:http";
import { expect, it } from "vitest";
import { agent } from "../engine/agent/agent.ts";
import { SILENT_LOGGER } from "../internal/logger.ts";
import { createServer } from "./create-server.ts";
import { isLocalName, isLoopback } from "./local-names.ts";
import type { ServerOptions } from "./settings/settings.ts";

it.each([
  [undefined, true],
  ["localhost:3000", true],
  ["LOCALHOST.", true],
  ["agents.localhost:3000", true],
  ["127.0.0.1:3000", true],
  ["[::1]:3000", true],
  ["host.docker.internal:3000", true],
  ["laptop", true],
  ["evil.example:3000", false],
  ["127.0.0.1.evil.example", false],
  ["localhost.evil.example.:3000", false],
])("Host %j is a local name: %s", (host, expected) => {
  expect(isLocalName(host)).toBe(expected);
});

it("Loopback addresses are recognised", () => {
  expect(["127.0.0.1", "127.1.2.3", "::1", "localhost"].every(isLoopback)).toBe(true);
  expect(["0.0.0.0", "::", "10.0.0.1", "127.example.org"].some(isLoopback)).toBe(false);
});

const quiet = agent({ name: "Quiet", description: "Says little.", version: "1.0.0", run: async () => {} });

it.each<[string, ServerOptions, number]>([
  ["is refused by a server without authentication that listens on loopback", {}, 421],
  ["is answered if the server has a public URL", { publicUrl: "https://agents.example" }, 200],
  ["is answered if a proxy is trusted", { trustedProxies: ["loopback"] }, 200],
  ["is answered if callers authenticate", { authenticate: () => ({ id: "ada", anonymous: false }) }, 200],
])("A request with a foreign host name (DNS rebinding) %s", async (_, options, expected) => {
  const server = createServer(quiet, { port: 0, store: "memory:", drainTimeout: 0, logger: SILENT_LOGGER, ...options });
  const { port } = await server.listen();
  const statusFor = (host: string): Promise<number | undefined> =>
    new Promise((resolve, reject) => {
      request({ host: "127.0.0.1", port, path: "/tasks", headers: { host, "a2a-version": "1.0" } }, (response) => {
        expect(response.headers["x-content-type-options"]).toBe("nosniff");
        response.resume();
        resolve(response.statusCode);
      })
        .on("error", reject)
        .end();
    });
  expect(await statusFor(`rebound.example:${port}`)).toBe(expected);
  expect(await statusFor(`localhost:${port}`)).toBe(200);
  await server.close();
});
