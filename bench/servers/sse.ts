import { createServer, type ServerResponse } from "node:http";
import { announce } from "./control.ts";

/** A minimal server of idle event streams: it only keeps the responses. */
const open = new Set<ServerResponse>();

const server = createServer((request, response) => {
  request.resume();
  response.writeHead(200, { "content-type": "text/event-stream", "cache-control": "no-cache" });
  response.write('data: {"jsonrpc":"2.0","id":1,"result":{}}\n\n');
  open.add(response);
  response.on("close", () => open.delete(response));
});
// A comment at intervals keeps the connection alive, as in a real server.
setInterval(() => {
  for (const response of open) response.write(": still here\n\n");
}, 15_000).unref();
server.listen(0, "127.0.0.1", () => announce(server.address(), "node:http"));
