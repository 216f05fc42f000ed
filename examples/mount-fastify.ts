import fastify, { type FastifyInstance, type FastifyReply, type FastifyRequest } from "fastify";
import { createServer, type Server } from "palaver";
import greeter from "./greeter.ts";

/** An application with its own page, and agents below /assistant. */
export function createApp(agents: Server): FastifyInstance {
  const app = fastify();
  app.get("/hello", async () => ({ hello: "from the application" }));
  app.register(async (scope) => {
    // No body parser here: the agents read request bodies themselves.
    scope.removeAllContentTypeParsers();
    scope.addContentTypeParser("*", (_request, _payload, done) => done(null));
    const handle = (request: FastifyRequest, reply: FastifyReply): void => {
      reply.hijack();
      agents.nodeHandler(request.raw, reply.raw);
    };
    scope.all("/assistant", handle);
    scope.all("/assistant/*", handle);
  });
  return app;
}

if (import.meta.main) {
  const port = Number(process.env["PORT"] ?? 3000);
  const agents = createServer([greeter], { store: "memory:", publicUrl: `http://127.0.0.1:${port}/assistant` });
  const app = createApp(agents);
  await app.listen({ port, host: "127.0.0.1" });
  process.once("SIGTERM", () => void agents.close().then(() => app.close()));
}
