import type { ClientLine } from "./client-line.ts";
import { a2aJsV02 } from "./clients/a2a-js-v0-2.ts";
import { a2aJsV03 } from "./clients/a2a-js-v0-3.ts";
import { a2aJsV1 } from "./clients/a2a-js-v1.ts";

/** Every client that is tested against this server, newest first. */
export const CLIENTS: readonly ClientLine[] = [a2aJsV1, a2aJsV03, a2aJsV02];
