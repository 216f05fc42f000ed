import { describe, expect, test } from "vitest";
import { agent } from "./agent.ts";

const run = async (): Promise<string> => "done";
const base = { name: "Clerk", description: "Files things.", version: "1.0.0", run };
const skill = { id: "file", name: "File", description: "Files it.", tags: ["office"] };
const key = { type: "apiKey", in: "header", name: "X-Key" };
const scopes = { read: "Read it." };
const tokenUrl = "https://id.example.org/token";

/** Invalid definitions that the types exclude, as they may come from a file. */
function declare(definition: object): unknown {
  return agent({ ...base, ...definition });
}

describe("a valid definition", () => {
  test.each([
    ["is short", {}],
    [
      "names media types",
      { inputModes: ["text/plain", "image/*", "*/*"], outputModes: ["application/vnd.x+json;v=1"] },
    ],
    ["links to more", { iconUrl: "https://x.example/i.png", documentationUrl: "https://x.example/" }],
    ["names extensions", { extensions: [{ uri: "urn:a", required: true, params: { a: 1 } }, { uri: "urn:b" }] }],
    ["says what it can do", { capabilities: { streaming: false, pushNotifications: false } }],
    [
      "names every kind of scheme",
      {
        securitySchemes: {
          key,
          cookie: { ...key, in: "cookie" },
          bearer: { type: "http", scheme: "bearer", bearerFormat: "JWT" },
          oidc: { type: "openIdConnect", openIdConnectUrl: "https://id.example.org/" },
          tls: { type: "mutualTLS", description: "Ask us for one." },
          oauth: {
            type: "oauth2",
            oauth2MetadataUrl: "https://id.example.org/.well-known/oauth-authorization-server",
            flows: {
              authorizationCode: { authorizationUrl: "https://id.example.org/authorize", tokenUrl, scopes },
              clientCredentials: { tokenUrl, scopes: {} },
              deviceCode: { deviceAuthorizationUrl: "https://id.example.org/device", tokenUrl, scopes },
              implicit: { authorizationUrl: "https://id.example.org/authorize", scopes },
              password: { tokenUrl, scopes },
            },
          },
        },
        security: [{ key: [], oauth: ["read"] }, { tls: [] }, {}],
        skills: [{ ...skill, security: [{ oidc: ["admin"] }] }],
      },
    ],
    ["has a default project", { defaultProjectId: "lobby" }],
    ["has an extended card", { extendedCard: { skills: [skill], securitySchemes: { key }, security: [{ key: [] }] } }],
    ["makes its extended card", { extendedCard: () => undefined }],
  ])("is accepted if it %s", (_, definition) => {
    expect(declare(definition)).toMatchObject({ id: "clerk" });
  });
});

describe("an invalid definition", () => {
  test.each<[object, string]>([
    [{ name: " " }, "`name` must be a non-empty string."],
    [{ defaultProjectId: "" }, "`defaultProjectId` must be a non-empty string."],
    [{ defaultProjectId: 5 }, "`defaultProjectId` must be a non-empty string."],
    [{ description: 5 }, "`description` must be a non-empty string."],
    [{ id: "a b" }, '`id` "a b" must be 1–64 letters'],
    [{ run: undefined }, "give it a `run(task)`"],
    [{ timeout: -1 }, "`timeout` must be a number of at least 0."],
    [{ concurrency: 0 }, "`concurrency` must be a number of at least 1."],
    [{ maxAttempts: 0 }, "`maxAttempts` must be a whole number of at least 1."],
    [{ maxAttempts: 1.5 }, "`maxAttempts` must be a whole number of at least 1."],
    [{ maxAttempts: Number.NaN }, "`maxAttempts` must be a whole number of at least 1."],
    [{ skills: {} }, "`skills` must be a list."],
    [{ skills: [null] }, "`skills[0]` must be an object."],
    [{ skills: [skill, skill] }, '`skills[1].id` "file" is used twice.'],
    [{ skills: [{ ...skill, name: "" }] }, "`skills[0].name` must be a non-empty string."],
    [{ skills: [{ ...skill, tags: "office" }] }, "`skills[0].tags` must be a list of strings."],
    [{ skills: [{ id: "a", name: "A", description: "A." }] }, "`skills[0].tags` must be a list of strings."],
    [{ skills: [{ ...skill, examples: [1] }] }, "`skills[0].examples` must be a list of strings."],
    [{ skills: [{ ...skill, outputModes: ["text"] }] }, '`skills[0].outputModes[0]` "text" must be a media type'],
    [{ inputModes: "text/plain" }, "`inputModes` must be a list."],
    [{ inputModes: ["text/plain", "json"] }, '`inputModes[1]` "json" must be a media type such as "text/plain"'],
    [{ outputModes: [5] }, "`outputModes[0]` 5 must be a media type"],
    [{ iconUrl: "/icon.png" }, "`iconUrl` must be an absolute URL."],
    [{ documentationUrl: "" }, "`documentationUrl` must be an absolute URL."],
    [{ provider: { organization: "Acme" } }, "`provider` must be `{ organization, url }`"],
    [{ provider: { organization: "", url: "https://x.example" } }, "`provider` must be"],
    [{ extensions: {} }, "`extensions` must be a list."],
    [{ extensions: [{ uri: "" }] }, "`extensions[0].uri` must be a non-empty string."],
    [{ extensions: ["urn:a"] }, "`extensions[0].uri` must be a non-empty string."],
    [{ extensions: [{ uri: "urn:a,b" }] }, "`extensions[0].uri` must not contain spaces or commas."],
    [{ extensions: [{ uri: "urn:a" }, { uri: "urn:a" }] }, '`extensions[1].uri` "urn:a" is used twice.'],
    [{ extensions: [{ uri: "urn:a", required: "yes" }] }, "`extensions[0].required` must be true or false."],
    [{ extensions: [{ uri: "urn:a", params: [] }] }, "`extensions[0].params` must be an object."],
    [{ extensions: [{ uri: "urn:a", description: 1 }] }, "`extensions[0].description` must be a string."],
    [{ capabilities: [] }, "`capabilities` must be an object."],
    [{ capabilities: { streaming: "yes" } }, "`capabilities.streaming` must be true or false."],
    [{ securitySchemes: [key] }, "`securitySchemes` must be an object: the schemes by name."],
    [{ securitySchemes: { key: "X-Key" } }, "`securitySchemes.key` must be an object."],
    [{ securitySchemes: { key: { type: "bearer" } } }, "`securitySchemes.key.type` must be one of apiKey, http"],
    [{ securitySchemes: { key: { type: "constructor" } } }, "`securitySchemes.key.type` must be one of"],
    [{ securitySchemes: { key: { ...key, in: "body" } } }, "`securitySchemes.key.in` must be one of header, query"],
    [{ securitySchemes: { key: { ...key, name: "" } } }, "`securitySchemes.key.name` must be a non-empty string."],
    [{ securitySchemes: { b: { type: "http" } } }, "`securitySchemes.b.scheme` must be a non-empty string."],
    [
      { securitySchemes: { o: { type: "openIdConnect", openIdConnectUrl: "id" } } },
      "`securitySchemes.o.openIdConnectUrl` must be an absolute URL.",
    ],
    [{ securitySchemes: { o: { type: "oauth2", flows: {} } } }, "`securitySchemes.o.flows` must have at least one of"],
    [
      { securitySchemes: { o: { type: "oauth2", flows: { magic: {} } } } },
      "`securitySchemes.o.flows.magic` is not an OAuth flow",
    ],
    [
      { securitySchemes: { o: { type: "oauth2", flows: { password: { tokenUrl } } } } },
      "`securitySchemes.o.flows.password.scopes` must be an object",
    ],
    [
      { securitySchemes: { o: { type: "oauth2", flows: { deviceCode: { tokenUrl, scopes } } } } },
      "`securitySchemes.o.flows.deviceCode.deviceAuthorizationUrl` must be an absolute URL.",
    ],
    [{ security: { key: [] }, securitySchemes: { key } }, "`security` must be a list such as"],
    [{ security: ["key"], securitySchemes: { key } }, "`security[0]` must be an object"],
    [{ security: [{ key: "read" }], securitySchemes: { key } }, "`security[0].key` must be a list of scopes"],
    [
      { security: [{ kye: [] }], securitySchemes: { key } },
      'scheme "kye", which `securitySchemes` does not define (defined: key)',
    ],
    [
      { skills: [{ ...skill, security: [{ kye: [] }] }], securitySchemes: { key } },
      '`skills[0].security[0]` names the scheme "kye"',
    ],
    [{ extendedCard: "more" }, "`extendedCard` must be an object or a function"],
    [{ extendedCard: { name: "" } }, "In `extendedCard`: `name` must be a non-empty string."],
    [
      { extendedCard: { security: [{ kye: [] }] }, securitySchemes: { key } },
      'In `extendedCard`: `security[0]` names the scheme "kye"',
    ],
  ])("%j is refused with the problem and how to fix it", (definition, problem) => {
    const attempt = (): unknown => declare(definition);
    expect(attempt).toThrow(TypeError);
    expect(attempt).toThrow(problem);
  });

  test("is refused with all its problems", () => {
    expect(() => declare({ inputModes: ["x"], queue: -1 })).toThrow(/inputModes\[0\][\s\S]*queue/);
  });
});
