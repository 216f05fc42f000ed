import { createServer } from "palaver";
import greeter from "./greeter.ts";

const server = createServer([greeter], { store: "memory:", publicUrl: "https://agents.example.org" });

/** Mount this handler in any framework with web-standard requests. */
export const handle: (request: Request) => Promise<Response> = server.fetch;

export const close: () => Promise<void> = server.close;
