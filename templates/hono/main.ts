import { serve } from "@hono/node-server";
import { createServer } from "palaver";
import greeter from "./agent.ts";
import { createApp } from "./app.ts";

const port = Number(process.env["PORT"] ?? 3000);
const hostname = process.env["BIND_HOST"] ?? "127.0.0.1";
const publicUrl = process.env["PUBLIC_URL"] ?? `http://127.0.0.1:${port}`;

const agents = createServer(greeter, { publicUrl: `${publicUrl}/assistant` });
const listener = serve({ fetch: createApp(agents).fetch, port, hostname }, () => {
  console.log(`Application: ${publicUrl}/hello`);
  console.log(`Agent:       ${publicUrl}/assistant`);
});

/** Lets running tasks end, then closes. Tasks that need longer go on after the next start. */
async function stop(): Promise<void> {
  listener.close();
  await agents.close();
}
process.once("SIGTERM", stop);
process.once("SIGINT", stop);
