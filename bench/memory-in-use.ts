import type { ServerProcess } from "./server-process.ts";

/** Bytes of heap and external memory after a full garbage collection. */
export async function memoryInUse(server: ServerProcess): Promise<number> {
  const { heapUsed, external } = await server.usage({ collect: true });
  return heapUsed + external;
}
