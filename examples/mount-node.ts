import { createServer as createHttpServer, type Server as HttpServer } from "node:http";
import { createServer, type Server } from "palaver";
import greeter from "./greeter.ts";

/** A server with its own page, and agents below /assistant. */
export function createApp(agents: Server): HttpServer {
  return createHttpServer((request, response) => {
    const [path] = (request.url ?? "/").split("?");
    if (`${path}/`.startsWith("/assistant/")) agents.nodeHandler(request, response);
    else if (path === "/hello") response.end('{"hello":"from the application"}');
    else response.writeHead(404).end();
  });
}

if (import.meta.main) {
  const port = Number(process.env["PORT"] ?? 3000);
  const agents = createServer([greeter], { store: "memory:", publicUrl: `http://127.0.0.1:${port}/assistant` });
  const app = createApp(agents).listen(port, "127.0.0.1");
  process.once("SIGTERM", () => void agents.close().then(() => app.close()));
}
