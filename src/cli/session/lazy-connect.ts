import type { Connect } from "./connect.ts";

const load = async (): Promise<Connect> => (await import("./remote-connect.ts")).remoteConnect;

/** Connects commands to agents. Loads the client library when it is first needed. */
export const lazyConnect: Connect = Object.assign(async (...args: Parameters<Connect>) => (await load())(...args), {
  readCard: async (...args: Parameters<Connect["readCard"]>) => (await load()).readCard(...args),
} satisfies Pick<Connect, "readCard">);
