import type { AddressInfo } from "node:net";
import { collectGarbage } from "./collect-garbage.ts";

/** What the bench asks of a server under test, over the channel between the two processes. */
export type ToServer = { readonly kind: "usage"; readonly collect: boolean };

export type FromServer =
  | { readonly kind: "ready"; readonly port: number; readonly about: string }
  /** It cannot run here: `reason` says what is not installed. */
  | { readonly kind: "missing"; readonly reason: string }
  | { readonly kind: "usage"; readonly usage: Usage };

/** What the process uses: memory in bytes, and since its start the time of processors, all threads together, in seconds. */
export interface Usage {
  readonly rss: number;
  readonly heapUsed: number;
  readonly external: number;
  readonly cpuSeconds: number;
}

/** The configuration the bench gave this process. */
export function readConfig<Config extends object>(): Partial<Config> {
  return JSON.parse(process.argv[2] ?? "{}");
}

/** Tells the bench where the server listens and answers its questions from then on. Ends the process when the bench is gone. */
export function announce(address: AddressInfo | string | number | null, about: string): void {
  const port =
    typeof address === "number" ? address : typeof address === "object" && address !== null ? address.port : 0;
  process.on("message", (message: ToServer) => {
    void answer(message);
  });
  process.on("disconnect", () => process.exit(0));
  tell({ kind: "ready", port, about });
}

/** Says that something is not installed, and ends the process. */
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
