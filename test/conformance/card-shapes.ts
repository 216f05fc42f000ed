import type { Version } from "./dialect-client.ts";
import { asFlag, asList, asObject, asText, asTexts, listOf, maybe, objectWith, wrong } from "./strict.ts";

type Check = (value: unknown, path: string) => unknown;

interface CardSpelling {
  readonly required: readonly string[];
  readonly optional: readonly string[];
  readonly members: Readonly<Record<string, Check>>;
}

const atLeastOne =
  (check: Check): Check =>
  (value, path) => {
    if (asList(value, path).length === 0) wrong(path, "is empty");
    listOf(check)(value, path);
  };
const filledText: Check = (value, path) => (asText(value, path) === "" ? wrong(path, "is empty") : value);
const address: Check = (value, path) =>
  /^https?:\/\/[^/]+/.test(asText(value, path)) ? value : wrong(path, "is not an absolute URL", value);
/** gRPC has an authority instead of a URL. */
const authority: Check = (value, path) =>
  /^(?:[\w.-]+|\[[0-9a-f:]+\]):\d+$/.test(asText(value, path)) ? value : wrong(path, "is not a host and a port", value);
const addressOf = (binding: unknown): Check => (binding === "GRPC" ? authority : address);

const provider: Check = (value, path) => {
  const fields = objectWith(value, path, { required: ["organization", "url"] });
  filledText(fields["organization"], `${path}.organization`);
  address(fields["url"], `${path}.url`);
};

const extension: Check = (value, path) => {
  const fields = objectWith(value, path, { required: ["uri"], optional: ["description", "required", "params"] });
  maybe(fields, "required", asFlag);
  maybe(fields, "params", asObject);
};

const capabilities =
  (members: readonly string[]): Check =>
  (value, path) => {
    const { extensions, ...flags } = objectWith(value, path, { optional: members });
    for (const [name, flag] of Object.entries(flags)) asFlag(flag, `${path}.${name}`);
    if (extensions !== undefined) listOf(extension)(extensions, `${path}.extensions`);
  };

const skill =
  (requirements?: "security" | "securityRequirements", requirement: Check = flatRequirement): Check =>
  (value, path) => {
    const fields = objectWith(value, path, {
      required: ["id", "name", "description", "tags"],
      optional: ["examples", "inputModes", "outputModes", ...(requirements === undefined ? [] : [requirements])],
    });
    for (const name of ["id", "name", "description"]) filledText(fields[name], `${path}.${name}`);
    atLeastOne(filledText)(fields["tags"], `${path}.tags`);
    for (const name of ["examples", "inputModes", "outputModes"] as const) maybe(fields, name, asTexts);
    if (requirements === undefined || fields[requirements] === undefined) return;
    listOf(requirement)(fields[requirements], `${path}.${requirements}`);
  };

/** The members of each kind of scheme. */
const SCHEMES: Readonly<
  Record<string, { readonly required: readonly string[]; readonly optional?: readonly string[] }>
> = {
  apiKeySecurityScheme: { required: ["location", "name"] },
  httpAuthSecurityScheme: { required: ["scheme"], optional: ["bearerFormat"] },
  oauth2SecurityScheme: { required: ["flows"], optional: ["oauth2MetadataUrl"] },
  openIdConnectSecurityScheme: { required: ["openIdConnectUrl"] },
  mtlsSecurityScheme: { required: [] },
  apiKey: { required: ["in", "name"] },
  http: { required: ["scheme"], optional: ["bearerFormat"] },
  oauth2: { required: ["flows"], optional: ["oauth2MetadataUrl"] },
  openIdConnect: { required: ["openIdConnectUrl"] },
  mutualTLS: { required: [] },
};
const FLOWS = ["authorizationCode", "clientCredentials", "implicit", "password"];

/** One member names the kind of scheme and contains the rest. */
const wrappedScheme: Check = (value, path) => {
  const kinds = Object.keys(SCHEMES).filter((kind) => kind.endsWith("Scheme"));
  const [entry] = Object.entries(objectWith(value, path, { one: kinds }));
  const [kind = "", content] = entry ?? [];
  const { required, optional = [] } = SCHEMES[kind] ?? { required: [] };
  const fields = objectWith(content, `${path}.${kind}`, { required, optional: ["description", ...optional] });
  if (fields["flows"] !== undefined) objectWith(fields["flows"], `${path}.flows`, { one: [...FLOWS, "deviceCode"] });
};

/** Mutual TLS and the OAuth metadata URL were added in 0.3. */
const earlyScheme: Check = (value, path) => {
  const { type, oauth2MetadataUrl } = asObject(value, path);
  if (type === "mutualTLS" || oauth2MetadataUrl !== undefined) wrong(path, "has what came later", value);
  flatScheme(value, path);
};

const flatScheme: Check = (value, path) => {
  const type = asText(asObject(value, path)["type"], `${path}.type`);
  const { required, optional = [] } = SCHEMES[type] ?? wrong(path, "is of no kind", value);
  const fields = objectWith(value, path, { required: ["type", ...required], optional: ["description", ...optional] });
  if (fields["flows"] !== undefined) objectWith(fields["flows"], `${path}.flows`, { optional: FLOWS });
};

const schemes =
  (check: Check): Check =>
  (value, path) => {
    for (const [name, scheme] of Object.entries(asObject(value, path))) check(scheme, `${path}.${name}`);
  };

const wrappedRequirement: Check = (value, path) => {
  const { schemes: named } = objectWith(value, path, { required: ["schemes"] });
  for (const [name, scopes] of Object.entries(asObject(named, path))) {
    asTexts(objectWith(scopes, `${path}.${name}`, { required: ["list"] })["list"], `${path}.${name}`);
  }
};

const flatRequirement: Check = (value, path) => {
  for (const [name, scopes] of Object.entries(asObject(value, path))) asTexts(scopes, `${path}.${name}`);
};

const SHARED: Readonly<Record<string, Check>> = {
  name: filledText,
  description: filledText,
  version: filledText,
  provider,
  iconUrl: address,
  documentationUrl: address,
  defaultInputModes: atLeastOne(filledText),
  defaultOutputModes: atLeastOne(filledText),
};
const REQUIRED = [
  "name",
  "description",
  "version",
  "capabilities",
  "defaultInputModes",
  "defaultOutputModes",
  "skills",
];
const OPTIONAL = ["provider", "iconUrl", "documentationUrl", "securitySchemes"];

const CARD_1_0: CardSpelling = {
  required: [...REQUIRED, "supportedInterfaces"],
  optional: [...OPTIONAL, "securityRequirements"],
  members: {
    ...SHARED,
    capabilities: capabilities(["streaming", "pushNotifications", "extendedAgentCard", "extensions"]),
    skills: atLeastOne(skill("securityRequirements", wrappedRequirement)),
    securitySchemes: schemes(wrappedScheme),
    securityRequirements: listOf(wrappedRequirement),
    supportedInterfaces: atLeastOne((value, path) => {
      const fields = objectWith(value, path, {
        required: ["url", "protocolBinding", "protocolVersion"],
        optional: ["tenant"],
      });
      addressOf(fields["protocolBinding"])(fields["url"], `${path}.url`);
      if (!/^\d+\.\d+$/.test(asText(fields["protocolVersion"], path)))
        wrong(path, "has a version that is not short", value);
    }),
  },
};

const CARD_0_3: CardSpelling = {
  required: [...REQUIRED, "protocolVersion", "url", "preferredTransport"],
  optional: [...OPTIONAL, "additionalInterfaces", "security", "supportsAuthenticatedExtendedCard"],
  members: {
    ...SHARED,
    capabilities: capabilities(["streaming", "pushNotifications", "stateTransitionHistory", "extensions"]),
    skills: atLeastOne(skill("security")),
    securitySchemes: schemes(flatScheme),
    security: listOf(flatRequirement),
    url: address,
    supportsAuthenticatedExtendedCard: asFlag,
    protocolVersion: (value) => value === "0.3.0" || wrong("protocolVersion", "must be 0.3.0", value),
    preferredTransport: filledText,
    additionalInterfaces: listOf((value, path) => {
      const fields = objectWith(value, path, { required: ["url", "transport"] });
      addressOf(fields["transport"])(fields["url"], `${path}.url`);
    }),
  },
};

const CARD_0_2: CardSpelling = {
  ...CARD_0_3,
  members: {
    ...CARD_0_3.members,
    skills: atLeastOne(skill()),
    securitySchemes: schemes(earlyScheme),
    protocolVersion: (value) =>
      /^0\.2\.[1-6]$/.test(asText(value, "protocolVersion")) || wrong("protocolVersion", "must be 0.2.x", value),
  },
};

/** Names of schemes, and a free text that must not contain a secret. */
const authentication: Check = (value, path) => {
  const fields = objectWith(value, path, { required: ["schemes"], optional: ["credentials"] });
  atLeastOne(filledText)(fields["schemes"], `${path}.schemes`);
  maybe(fields, "credentials", asText);
};

const CARD_0_1: CardSpelling = {
  required: [...REQUIRED, "url"],
  optional: ["provider", "documentationUrl", "authentication"],
  members: {
    ...SHARED,
    url: address,
    capabilities: capabilities(["streaming", "pushNotifications", "stateTransitionHistory"]),
    skills: atLeastOne(skill()),
    authentication,
  },
};

/**
 * The card at the address used before 0.3, for requests without a version: 0.3 contains all members of 0.2; 0.1 has one
 * more.
 */
const CARD_UNION: CardSpelling = {
  ...CARD_0_3,
  optional: [...CARD_0_3.optional, "authentication"],
  members: { ...CARD_0_3.members, authentication },
};

const CARDS: Readonly<Record<Version | "union", CardSpelling>> = {
  "1.0": CARD_1_0,
  "0.3": CARD_0_3,
  "0.2": CARD_0_2,
  "0.1": CARD_0_1,
  union: CARD_UNION,
};

/** Throws unless the value is a card of that version with no missing and no additional members. */
export function checkCard(version: Version | "union", value: unknown): void {
  const { required, optional, members } = CARDS[version];
  for (const [name, content] of Object.entries(objectWith(value, "card", { required, optional }))) {
    const check = members[name] ?? wrong(name, "is not checked");
    check(content, name);
  }
}
