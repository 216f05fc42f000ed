import { isWireObject, type WireObject } from "../fields/fields.ts";

/**
 * How the definition of 1.0 counts a member. `required` ones are always there, empty if need be; `optional` ones if they were set, whatever to;
 * all others only if they are not empty.
 */
type Presence = "required" | "optional" | "implicit";

/** What a member holds: objects of a kind of their own, by themselves, in a list or by name; or anything else, which stays as it is. */
type Holds = Shape | readonly [list: Shape] | { readonly named: Shape } | "value";

/** How a member counts, what it holds, and what is there in its place where it is required and was not written. */
type Member = readonly [Presence, Holds, empty?: unknown];

interface Shape {
  readonly members: Readonly<Record<string, Member>>;
}

const REQUIRED = ["required", "value", ""] as const;
const REQUIRED_LIST = ["required", "value", []] as const;
const REQUIRED_MAP = ["required", "value", {}] as const;
const OPTIONAL = ["optional", "value"] as const;
const IMPLICIT = ["implicit", "value"] as const;

const REQUIREMENT: Shape = { members: { schemes: ["implicit", { named: { members: { list: IMPLICIT } } }] } };

const FLOWS: Shape = {
  members: {
    authorizationCode: flow({
      authorizationUrl: REQUIRED,
      tokenUrl: REQUIRED,
      scopes: REQUIRED_MAP,
      pkceRequired: IMPLICIT,
    }),
    clientCredentials: flow({ tokenUrl: REQUIRED, scopes: REQUIRED_MAP }),
    deviceCode: flow({ deviceAuthorizationUrl: REQUIRED, tokenUrl: REQUIRED, scopes: REQUIRED_MAP }),
    implicit: flow({ authorizationUrl: IMPLICIT, scopes: IMPLICIT }),
    password: flow({ tokenUrl: IMPLICIT, scopes: IMPLICIT }),
  },
};

function flow(members: Shape["members"]): readonly [Presence, Shape] {
  return ["optional", { members: { ...members, refreshUrl: IMPLICIT } }];
}

const SCHEME: Shape = {
  members: {
    apiKeySecurityScheme: scheme({ location: REQUIRED, name: REQUIRED }),
    httpAuthSecurityScheme: scheme({ scheme: REQUIRED, bearerFormat: IMPLICIT }),
    oauth2SecurityScheme: scheme({ flows: ["required", FLOWS, {}], oauth2MetadataUrl: IMPLICIT }),
    openIdConnectSecurityScheme: scheme({ openIdConnectUrl: REQUIRED }),
    mtlsSecurityScheme: scheme({}),
  },
};

function scheme(members: Shape["members"]): readonly [Presence, Shape] {
  return ["optional", { members: { ...members, description: IMPLICIT } }];
}

const CARD: Shape = {
  members: {
    name: REQUIRED,
    description: REQUIRED,
    version: REQUIRED,
    documentationUrl: OPTIONAL,
    iconUrl: OPTIONAL,
    supportedInterfaces: [
      "required",
      [{ members: { url: REQUIRED, protocolBinding: REQUIRED, protocolVersion: REQUIRED, tenant: IMPLICIT } }],
      [],
    ],
    provider: ["optional", { members: { url: REQUIRED, organization: REQUIRED } }],
    capabilities: [
      "required",
      {
        members: {
          streaming: OPTIONAL,
          pushNotifications: OPTIONAL,
          extendedAgentCard: OPTIONAL,
          extensions: [
            "implicit",
            [{ members: { uri: IMPLICIT, description: IMPLICIT, required: IMPLICIT, params: OPTIONAL } }],
          ],
        },
      },
      {},
    ],
    securitySchemes: ["implicit", { named: SCHEME }],
    securityRequirements: ["implicit", [REQUIREMENT]],
    defaultInputModes: REQUIRED_LIST,
    defaultOutputModes: REQUIRED_LIST,
    skills: [
      "required",
      [
        {
          members: {
            id: REQUIRED,
            name: REQUIRED,
            description: REQUIRED,
            tags: REQUIRED_LIST,
            examples: IMPLICIT,
            inputModes: IMPLICIT,
            outputModes: IMPLICIT,
            securityRequirements: ["implicit", [REQUIREMENT]],
          },
        },
      ],
      [],
    ],
  },
};

/** One form that the signature of a card may be of. */
export interface SignedForm {
  readonly form: "definition" | "without-empty" | "as-written";
  /** What is signed; nothing else of the card is. */
  readonly json: WireObject;
}

/**
 * What the signatures of a card may be over, in the order in which to try: the text of the protocol, by which members of its definition
 * are kept as they are required or set; the same without anything empty, as the official libraries do it; and all that was written. The
 * first two leave out what the definition does not know.
 */
export function signedForms(card: WireObject): readonly SignedForm[] {
  const { signatures: _signatures, ...written } = card;
  const definition = reduceObject(written, CARD);
  return [
    { form: "definition", json: definition },
    { form: "without-empty", json: reduceEmpty(definition) },
    { form: "as-written", json: written },
  ];
}

function reduceObject(object: WireObject, { members }: Shape): WireObject {
  const kept = Object.entries(members).flatMap(([name, [presence, holds, empty]]) => {
    const written = Object.hasOwn(object, name) ? (object[name] ?? empty) : empty;
    if (written === undefined) return [];
    const value = reduce(written, holds);
    return presence === "implicit" && isDefault(value) ? [] : [[name, value] as const];
  });
  return Object.fromEntries(kept);
}

function reduce(value: unknown, holds: Holds): unknown {
  if (holds === "value") return value;
  if (isList(holds)) return Array.isArray(value) ? value.map((item) => reduce(item, holds[0])) : value;
  if (!isWireObject(value)) return value;
  if ("members" in holds) return reduceObject(value, holds);
  return Object.fromEntries(Object.entries(value).map(([name, item]) => [name, reduce(item, holds.named)]));
}

function isList(holds: Exclude<Holds, "value">): holds is readonly [Shape] {
  return Array.isArray(holds);
}

function isDefault(value: unknown): boolean {
  return value === false || value === 0 || isEmpty(value);
}

function isEmpty(value: unknown): boolean {
  if (typeof value !== "object") return value === "" || value === undefined;
  return value === null || (Array.isArray(value) ? value.length === 0 : Object.keys(value).length === 0);
}

/** Without members and items that are empty, or become so. */
function reduceEmpty(object: WireObject): WireObject {
  const kept = Object.entries(object).map(([name, value]) => [name, withoutEmpty(value)] as const);
  return Object.fromEntries(kept.filter(([, value]) => !isEmpty(value)));
}

function withoutEmpty(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withoutEmpty).filter((item) => !isEmpty(item));
  return isWireObject(value) ? reduceEmpty(value) : value;
}
