import { exportJWK, generateKeyPair, type JWK, SignJWT } from "jose";

export const ISSUER = "https://issuer.example";
export const AUDIENCE = "agents";
/** The time of the tests, in milliseconds since 1970. */
export const NOW = 1_800_000_000_000;
const SECONDS = NOW / 1000;

/** A token issuer. */
export interface Issuer {
  readonly publicKey: JWK;
  readonly privateKey: CryptoKey;
  token(
    claims?: Readonly<Record<string, unknown>>,
    header?: { readonly kid?: string; readonly alg?: string },
  ): Promise<string>;
}

export async function createIssuer(kid = "one"): Promise<Issuer> {
  const { publicKey, privateKey } = await generateKeyPair("ES256", { extractable: true });
  return {
    publicKey: { ...(await exportJWK(publicKey)), kid, alg: "ES256", use: "sig" },
    privateKey,
    token: (claims = {}, header = {}) =>
      new SignJWT({ iss: ISSUER, aud: AUDIENCE, sub: "ada", exp: SECONDS + 300, ...claims })
        .setProtectedHeader({ alg: "ES256", kid, ...header })
        .sign(privateKey),
  };
}

type CryptoKey = Awaited<ReturnType<typeof generateKeyPair>>["privateKey"];

export interface Web {
  readonly fetch: typeof fetch;
  /** The fetched URLs, in order. */
  readonly asked: string[];
  /** Documents by URL; a function for a document that changes or fails. */
  readonly pages: Map<string, unknown>;
}

/** A `fetch` that serves a few JSON documents. */
export function createWeb(pages: Readonly<Record<string, unknown>>): Web {
  const web: Web = {
    asked: [],
    pages: new Map(Object.entries(pages)),
    fetch: async (input) => {
      const { url } = new Request(input);
      web.asked.push(url);
      const page = web.pages.get(url);
      if (page === undefined) return new Response("", { status: 404 });
      if (page instanceof Error) throw page;
      return typeof page === "string" ? new Response(page) : Response.json(page);
    },
  };
  return web;
}
