import { createServer, type ServerResponse } from "node:http";
import { announce } from "./control.ts";

/** The least a server of idle event streams can do: hold the responses. */
const open = new Set<ServerResponse>();

const server = createServer((request, response) => {
  request.resume();
  response.writeHead(200, { "content-type": "text/event-stream", "cache-control": "no-cache" });
  response.write('data: {"jsonrpc":"2.0","id":1,"result":{}}\n\n');
  open.add(response);
  response.on("close", () => open.delete(response));
});
// As a server of streams would: a comment now and then shows that the connection is alive.
setInterval(() => {
  for (const response of open) response.write(": still here\n\n");
}, 15_000).unref();
server.listen(0, "127.0.0.1", () => announce(server.address(), "node:http"));
