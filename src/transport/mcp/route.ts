import { createRoute, type Handler, type Route } from "../router.ts";
import type { McpFace } from "./face.ts";
import type { HttpFaceOptions } from "./http-face.ts";
import { errorReply } from "./reply.ts";

/** The route of an MCP path. What answers its requests is loaded with the first one. */
export function createMcpRoute(face: McpFace, options: HttpFaceOptions): Route {
  let loading: Promise<Handler> | undefined;
  const post: Handler = async (exchange, found) => {
    loading ??= import("./http-face.ts").then(({ createMcpHandler }) => createMcpHandler(face, options));
    return (await loading)(exchange, found);
  };
  return createRoute(new Map([["POST", post]]), { refuse: (_exchange, error) => errorReply(error) });
}
