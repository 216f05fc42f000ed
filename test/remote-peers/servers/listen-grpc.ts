import { Server, ServerCredentials, type ServiceDefinition, type UntypedServiceImplementation } from "@grpc/grpc-js";
import type { Express } from "express";
import type { OfficialServer, StartOptions } from "../server-line.ts";
import { listen } from "./listen.ts";

/** What an official kit serves: its gRPC service, and the card by HTTP. */
export interface GrpcSetUp {
  readonly service: ServiceDefinition;
  /** `address`: as the card lists it. */
  create(address: string): { readonly implementation: UntypedServiceImplementation; cards(app: Express): void };
}

/** Opens a port for gRPC, and another one for the card. */
export async function listenGrpc(
  { reachedAt = async (url) => url }: Pick<StartOptions, "reachedAt">,
  { service, create }: GrpcSetUp,
): Promise<OfficialServer> {
  const server = new Server();
  const port = await new Promise<number>((resolve, reject) => {
    server.bindAsync("127.0.0.1:0", ServerCredentials.createInsecure(), (error, bound) =>
      error === null ? resolve(bound) : reject(error),
    );
  });
  const { host } = new URL(await reachedAt(`http://127.0.0.1:${port}`));
  const { implementation, cards } = create(host);
  server.addService(service, implementation);
  const http = await listen({}, (app) => cards(app));
  return {
    url: http.url,
    async close() {
      server.forceShutdown();
      await http.close();
    },
  };
}
