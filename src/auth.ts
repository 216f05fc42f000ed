export {
  type ApiKeysOptions,
  apiKeys,
  type ForeignApiKeysOptions,
  type IssuedApiKeysOptions,
  type StoredApiKey,
} from "./auth/verify/api-keys.ts";
export { type BasicOptions, basic } from "./auth/verify/basic.ts";
export type {
  ChallengeProblem,
  ClientCertificate,
  CredentialSource,
  Verified,
  Verifier,
} from "./auth/verify/contract.ts";
export { type MutualTlsOptions, mutualTls } from "./auth/verify/mutual-tls.ts";
export { hashPassword } from "./auth/verify/password-hash.ts";
export type { BasicUser } from "./auth/verify/user-check.ts";
export { type ApiKeyFileOptions, apiKeyFile } from "./platform/security/api-keys.ts";
export {
  type JwtBearerOptions,
  jwtBearer,
  type OpenIdConnectOptions,
  openIdConnect,
} from "./platform/security/security-issuers.ts";
export type { OAuthFlow, OAuthFlowName, SecurityRequirement, SecurityScheme } from "./protocol/card.ts";
export type { Principal, Scope } from "./protocol/principal.ts";
export type { Policy } from "./server/policy.ts";
export type { SecurityOptions } from "./server/security.ts";
export type { Authenticate, IncomingRequest } from "./transport/options.ts";
