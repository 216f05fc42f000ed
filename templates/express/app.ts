import express, { type Express } from "express";
import type { Server } from "palaver";

/** Your application, with the agents below /assistant. */
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
