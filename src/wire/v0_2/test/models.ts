import type fc from "fast-check";
import type { AgentCard, SecurityScheme } from "../../../protocol/card.ts";
import type { OperationRequest } from "../../../protocol/operation.ts";
import * as newer from "../../v0_3/test/models.ts";

// Generators of everything in the neutral model that 0.2 can encode. The rest is listed in test/wire/losses.

export { SAMPLES } from "../../v0_3/test/models.ts";

export const rpcRequest: fc.Arbitrary<OperationRequest> = newer.rpcRequest.filter(
  ({ operation }) => operation !== "extended-card",
);

export const card: fc.Arbitrary<AgentCard> = newer.card.map(
  ({ securitySchemes = {}, skills, interfaces, ...shape }) => ({
    ...shape,
    interfaces: interfaces.map((entry) => ({ ...entry, protocolVersion: "0.2" })),
    skills: skills.map(({ security: _later, ...skill }) => skill),
    securitySchemes: Object.fromEntries(Object.entries(securitySchemes).map(([name, scheme]) => [name, known(scheme)])),
  }),
);

function known(scheme: SecurityScheme): SecurityScheme {
  if (scheme.type === "mutualTLS") return { type: "http", scheme: "bearer" };
  if (scheme.type !== "oauth2") return scheme;
  const { oauth2MetadataUrl: _later, ...rest } = scheme;
  return rest;
}
