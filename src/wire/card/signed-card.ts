// Which members of a card a signature covers. A2A 1.0 §8.4.1 defines it by the presence of fields in the proto definition, so the tables
// below repeat the relevant part of that definition: for each member whether it is required, `optional` or neither.

import { isWireObject, type WireObject } from "../fields/fields.ts";

/**
 * When the canonical form contains a member (A2A 1.0 §8.4.1). `required`: always, empty if it is missing. `optional`: if it is set, even to an
 * empty value. `implicit`: only if it is not empty.
 */
type Presence = "required" | "optional" | "implicit";

/** The type of a member: an object, a list of objects, a map of objects, or any other value, which is kept unchanged. */
type MemberType = Shape | readonly [list: Shape] | { readonly named: Shape } | "value";

/** Presence and type of a member, and the value of a required member that is missing. */
type Member = readonly [Presence, MemberType, empty?: unknown];

/** An object of the proto definition, by the JSON names of its members. */
interface Shape {
  readonly members: Readonly<Record<string, Member>>;
}

const REQUIRED = ["required", "value", ""] as const;
const REQUIRED_LIST = ["required", "value", []] as const;
const REQUIRED_MAP = ["required", "value", {}] as const;
const OPTIONAL = ["optional", "value"] as const;
const IMPLICIT = ["implicit", "value"] as const;

/** A security requirement: `{"schemes":{"key":{"list":["read"]}}}`. */
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

/** One canonical form of a card that a signature may cover. */
export interface SignedForm {
  readonly form: "definition" | "without-empty" | "as-written";
  /** The signed members. All other members of the card are unsigned. */
  readonly json: WireObject;
}

/**
 * The forms that a signature of a card may cover, in the order to try: the canonical form of A2A 1.0 §8.4.1, with required and set members;
 * the same without empty members, as the official libraries sign; and the card as written. The first two omit unknown members.
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

/**
 * Keeps the members of the shape, in the order of the shape. The order does not matter: the signature covers the members sorted by name.
 */
function reduceObject(object: WireObject, { members }: Shape): WireObject {
  const kept = Object.entries(members).flatMap(([name, [presence, type, empty]]) => {
    const written = Object.hasOwn(object, name) ? (object[name] ?? empty) : empty;
    if (written === undefined) return [];
    const value = reduce(written, type);
    return presence === "implicit" && isDefault(value) ? [] : [[name, value] as const];
  });
  return Object.fromEntries(kept);
}

/** A value of another type than the definition's is kept unchanged. */
function reduce(value: unknown, type: MemberType): unknown {
  if (type === "value") return value;
  if (isList(type)) return Array.isArray(value) ? value.map((item) => reduce(item, type[0])) : value;
  if (!isWireObject(value)) return value;
  if ("members" in type) return reduceObject(value, type);
  return Object.fromEntries(Object.entries(value).map(([name, item]) => [name, reduce(item, type.named)]));
}

function isList(type: Exclude<MemberType, "value">): type is readonly [Shape] {
  return Array.isArray(type);
}

/** The default values of the proto definition, which ProtoJSON omits. */
function isDefault(value: unknown): boolean {
  return value === false || value === 0 || isEmpty(value);
}

function isEmpty(value: unknown): boolean {
  if (typeof value !== "object") return value === "" || value === undefined;
  return value === null || (Array.isArray(value) ? value.length === 0 : Object.keys(value).length === 0);
}

/** Removes empty members and items, also those that become empty by it. */
function reduceEmpty(object: WireObject): WireObject {
  const kept = Object.entries(object).map(([name, value]) => [name, withoutEmpty(value)] as const);
  return Object.fromEntries(kept.filter(([, value]) => !isEmpty(value)));
}

function withoutEmpty(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withoutEmpty).filter((item) => !isEmpty(item));
  return isWireObject(value) ? reduceEmpty(value) : value;
}
