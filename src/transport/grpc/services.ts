import type { ServiceOptions } from "../../server/service.ts";
import type { GrpcDialects } from "../../wire/grpc.ts";
import type { Endpoint } from "../endpoint.ts";
import { type A2AServiceOptions, createA2AService } from "./a2a-service.ts";
import type { GrpcService } from "./endpoint.ts";
import { createHealthService, HEALTH_SERVICE } from "./health-service.ts";
import { createReflectionService, REFLECTION_PACKAGES } from "./reflection-service.ts";

export interface GrpcServicesOptions {
  readonly endpoint: Endpoint;
  readonly dialects: GrpcDialects;
  readonly agent: A2AServiceOptions["agent"];
  readonly groups: A2AServiceOptions["groups"];
  readonly engine: Pick<ServiceOptions["engine"], "ready">;
}

/** All services by name: A2A in every version, health checks, and reflection. */
export function createGrpcServices(options: GrpcServicesOptions): ReadonlyMap<string, GrpcService> {
  const { endpoint, dialects, agent, groups, engine } = options;
  const a2a = dialects.families.map(({ service }) => service);
  const reflection = REFLECTION_PACKAGES.map((name) => [name, `${name}.ServerReflection`] as const);
  const names = [...a2a, HEALTH_SERVICE, ...reflection.map(([, service]) => service)];
  const ready = async (): Promise<void> => {
    await engine.ready();
  };
  return new Map<string, GrpcService>([
    ...dialects.families.map(
      (family) => [family.service, createA2AService({ endpoint, family, agent, groups })] as const,
    ),
    [HEALTH_SERVICE, createHealthService({ endpoint, dialects, services: a2a, ready })],
    ...reflection.map(
      ([packageName, service]) =>
        [service, createReflectionService({ endpoint, dialects, packageName, services: names })] as const,
    ),
  ]);
}
