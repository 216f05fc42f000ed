import express, { type Express } from "express";
import { createServer, type Server } from "palaver";
import greeter from "./greeter.ts";

/** An application with a page of its own, and agents below /assistant. */
export function createApp(agents: Server): Express {
  const app = express();
  // In front of the application's parsers: the agents read bodies by their own rules.
  app.use("/assistant", agents.nodeHandler);
  app.use(express.json());
  app.get("/hello", (_request, response) => {
    response.json({ hello: "from the application" });
  });
  return app;
}

if (import.meta.main) {
  const port = Number(process.env["PORT"] ?? 3000);
  const agents = createServer([greeter], { store: "memory:", publicUrl: `http://127.0.0.1:${port}/assistant` });
  const listener = createApp(agents).listen(port, "127.0.0.1");
  process.once("SIGTERM", () => void agents.close().then(() => listener.close()));
}
