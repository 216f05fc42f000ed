import type { Binding } from "../peers/line.ts";
import type { OfficialServer } from "./server-line.ts";
import { a2aJsV02 } from "./servers/a2a-js-v0-2.ts";
import { a2aJsV03 } from "./servers/a2a-js-v0-3.ts";

/** Starts a server of the official kit, of a version whose objects have `kind`. */
export function startKindedServer(line: "0.2" | "0.3", binding: Binding): Promise<OfficialServer> {
  return (line === "0.2" ? a2aJsV02 : a2aJsV03).start({ binding });
}
