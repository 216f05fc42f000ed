import { Hono } from "hono";
import { createServer, type Server } from "palaver";
import greeter from "./greeter.ts";

/** An application with its own page, and agents below /assistant. */
export function createApp(agents: Server): Hono {
  const app = new Hono();
  app.get("/hello", (context) => context.json({ hello: "from the application" }));
  app.all("/assistant/*", (context) => agents.fetch(context.req.raw));
  return app;
}

if (import.meta.main) {
  const agents = createServer([greeter], { store: "memory:", publicUrl: "https://example.org/assistant" });
  const app = createApp(agents);
  // Serve `app.fetch` with an adapter of your choice, or call it without a port, as here.
  const response = await app.request("/assistant/.well-known/agent-card.json");
  console.log(await response.json());
  await agents.close();
}
