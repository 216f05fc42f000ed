import { expect, it } from "vitest";
import { mutualTls } from "./mutual-tls.ts";
import { showing } from "./test/shown.ts";

const certificate = {
  subject: "CN=agent,O=Acme",
  commonName: "agent",
  alternativeNames: ["URI:spiffe://acme/agent"],
  fingerprint: "AB:CD",
};

it("A certificate identifies its caller by its subject, or by a configured part", async () => {
  const request = showing({ certificate });
  expect(await mutualTls().verify(request)).toEqual({
    id: "CN=agent,O=Acme",
    scopes: [],
    credential: "AB:CD",
    claims: { subject: "CN=agent,O=Acme", fingerprint: "AB:CD" },
  });
  const uri = mutualTls({
    idFrom: ({ alternativeNames }) => alternativeNames.find((name) => name.startsWith("URI:"))?.slice(4),
    scopes: ({ commonName }) => (commonName === "agent" ? ["send"] : []),
  });
  expect(await uri.verify(request)).toMatchObject({ id: "spiffe://acme/agent", scopes: ["send"] });
  expect(await mutualTls().verify(showing({}))).toBeUndefined();
});

it("A certificate is accepted only if it is allowed and identifies its owner", async () => {
  const request = showing({ certificate });
  expect(await mutualTls({ allow: ["ab:cd"], idFrom: "fingerprint" }).verify(request)).toMatchObject({ id: "AB:CD" });
  for (const options of [{ allow: ["ab:ce"] }, { allow: () => false }, { idFrom: () => undefined }]) {
    await expect(mutualTls(options).verify(request)).rejects.toMatchObject({ code: "unauthenticated" });
  }
});
