import express, { type Express } from "express";
import { createServer, type Server } from "palaver";
import greeter from "./greeter.ts";

/** An application with its own page, and agents below /assistant. */
export function createApp(agents: Server): Express {
  const app = express();
  // Before the application's body parsers: the agents read request bodies themselves.
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
