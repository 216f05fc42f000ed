import type { ServerLine } from "./server-line.ts";
import { a2aJsV02 } from "./servers/a2a-js-v0-2.ts";
import { a2aJsV03 } from "./servers/a2a-js-v0-3.ts";
import { a2aJsV1 } from "./servers/a2a-js-v1.ts";

/** Every server that the client is tested against, newest first. */
export const SERVERS: readonly ServerLine[] = [a2aJsV1, a2aJsV03, a2aJsV02];
