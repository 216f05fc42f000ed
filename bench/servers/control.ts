import type { AddressInfo } from "node:net";
import { collectGarbage } from "./collect-garbage.ts";

/** The questions of the bench to a server under test, over the channel between the two processes. */
export type ToServer = { readonly kind: "usage"; readonly collect: boolean };

export type FromServer =
  | { readonly kind: "ready"; readonly port: number; readonly about: string }
  /** The server cannot run on this machine: `reason` says what is not installed. */
  | { readonly kind: "missing"; readonly reason: string }
  | { readonly kind: "usage"; readonly usage: Usage };

/** Memory in bytes, and processor time since the start in seconds, all threads together. */
export interface Usage {
  readonly rss: number;
  readonly heapUsed: number;
  readonly external: number;
  readonly cpuSeconds: number;
}

/** The configuration from the bench. */
export function readConfig<Config extends object>(): Partial<Config> {
  return JSON.parse(process.argv[2] ?? "{}");
}

/**
 * Reports the server's address to the bench and answers its questions from then on. Ends the process when the bench
 * ends.
 */
export function announce(address: AddressInfo | string | number | null, about: string): void {
  const port =
    typeof address === "number" ? address : typeof address === "object" && address !== null ? address.port : 0;
  process.on("message", (message: ToServer) => {
    void answer(message);
  });
  process.on("disconnect", () => process.exit(0));
  tell({ kind: "ready", port, about });
}

/** Reports a missing dependency, and ends the process. */
export function declareMissing(reason: string): void {
  process.send?.({ kind: "missing", reason } satisfies FromServer, () => process.exit(0));
}

async function answer({ collect }: ToServer): Promise<void> {
  if (collect) await collectGarbage();
  const { rss, heapUsed, external } = process.memoryUsage();
  const { user, system } = process.cpuUsage();
  tell({ kind: "usage", usage: { rss, heapUsed, external, cpuSeconds: (user + system) / 1e6 } });
}

function tell(message: FromServer): void {
  process.send?.(message);
}
