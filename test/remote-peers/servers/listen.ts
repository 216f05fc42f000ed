import { once } from "node:events";
import express, { type Express } from "express";
import type { OfficialServer, StartOptions } from "../server-line.ts";

/** Opens a port and adds the official kit's routes, for the address that callers use. */
export async function listen(
  { reachedAt = async (url) => url }: Pick<StartOptions, "reachedAt">,
  setUp: (app: Express, url: string) => void,
): Promise<OfficialServer> {
  const app = express();
  const server = app.listen(0, "127.0.0.1");
  await once(server, "listening");
  const address = server.address();
  if (address === null || typeof address === "string") throw new Error("The server does not listen.");
  const url = await reachedAt(`http://127.0.0.1:${address.port}`);
  setUp(app, url);
  return {
    url,
    async close() {
      server.closeAllConnections();
      server.close();
      await once(server, "close");
    },
  };
}

/** `Authorization: Bearer NAME` authenticates the caller NAME. */
export function bearerName(authorization: string | undefined): string | undefined {
  return /^Bearer (\S+)$/.exec(authorization ?? "")?.[1];
}
