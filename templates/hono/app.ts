import { Hono } from "hono";
import type { Server } from "palaver";

/** Your application, with the agents below /assistant. */
export function createApp(agents: Server): Hono {
  const app = new Hono();
  app.get("/hello", (context) => context.json({ hello: "from the application" }));
  app.all("/assistant/*", (context) => agents.fetch(context.req.raw));
  return app;
}
