import { expect, test } from "vitest";
import { apiKeys } from "../../auth/verify/api-keys.ts";
import { agent } from "../../engine/agent/agent.ts";
import { SILENT_LOGGER } from "../../internal/logger.ts";
import { createServer } from "../create-server.ts";
import type { ServerOptions } from "../settings/settings.ts";

const harmless = agent({ name: "Harmless", description: "Runs no program.", version: "1", run: async () => "done" });
const program = { ...harmless, id: "program", startsPrograms: true };
const secured = { schemes: { key: apiKeys({ verify: (id) => ({ id, scopes: [] }) }) } };

async function create(agents: Parameters<typeof createServer>[0], options: ServerOptions): Promise<void> {
  const server = createServer(agents, { store: "memory:", logger: SILENT_LOGGER, drainTimeout: 0, ...options });
  await server.close();
}

test.each<[string, ServerOptions]>([
  ["listens on all addresses", { host: "0.0.0.0" }],
  ["listens on an address of the network", { host: "192.0.2.7" }],
  ["has a public URL", { publicUrl: "https://agents.example" }],
  ["is behind a proxy", { trustedProxies: ["loopback"] }],
  ["lets anonymous callers in", { host: "0.0.0.0", security: { ...secured, require: [{}] } }],
])("a server that %s does not start with an agent that runs programs", async (_what, options) => {
  await expect(create([harmless, program], options)).rejects.toThrow(
    'Agents that run programs on this machine ("program") could be called from other machines without authentication.',
  );
  await create(harmless, options);
});

test.each<[string, ServerOptions]>([
  ["listens on the loopback address", {}],
  ["listens on the loopback address of IPv6", { host: "::1" }],
  ["has a public URL of this machine", { publicUrl: "http://agents.localhost:3000" }],
  ["requires a key", { host: "0.0.0.0", security: secured }],
  ["authenticates callers itself", { host: "0.0.0.0", authenticate: async () => ({ id: "x", anonymous: false }) }],
])("a server that %s starts with an agent that runs programs", async (_what, options) => {
  await create([harmless, program], options);
});
