import { createSign, generateKeyPairSync, type KeyObject, randomBytes } from "node:crypto";

/** A certificate and its key, in PEM. */
export interface Issued {
  readonly cert: string;
  readonly key: string;
}

export interface CertificateAuthority {
  /** The certificate of the authority, in PEM. */
  readonly cert: string;
  issue(name: CertificateName): Issued;
}

export interface CertificateName {
  readonly commonName: string;
  readonly organization?: string;
  /** Default: none. */
  readonly dns?: readonly string[];
  /** Default: none. */
  readonly uri?: string;
  /** Default false. */
  readonly expired?: boolean;
}

/** Creates minimal X.509 certificates (RFC 5280) without external tools, so that tests run everywhere. */
export function createAuthority(name: string): CertificateAuthority {
  const { publicKey, privateKey } = generateKeyPairSync("ec", { namedCurve: "P-256" });
  const issuer = nameOf({ commonName: name });
  const sign = (subject: Buffer, options: Omit<Body, "issuer" | "subject">): string =>
    certificateOf({ issuer, subject, ...options }, privateKey);
  return {
    cert: sign(issuer, { publicKey, extensions: [extension("551d13", sequence(BOOLEAN_TRUE), true)], expired: false }),
    issue(asked) {
      const pair = generateKeyPairSync("ec", { namedCurve: "P-256" });
      const names = [
        ...(asked.dns ?? []).map((dns) => element(0x82, Buffer.from(dns))),
        ...(asked.uri === undefined ? [] : [element(0x86, Buffer.from(asked.uri))]),
        // 127.0.0.1, where tests listen.
        element(0x87, Buffer.from([127, 0, 0, 1])),
      ];
      const cert = sign(nameOf(asked), {
        publicKey: pair.publicKey,
        extensions: [extension("551d11", sequence(...names), false)],
        expired: asked.expired === true,
      });
      return { cert, key: pair.privateKey.export({ type: "pkcs8", format: "pem" }) as string };
    },
  };
}

interface Body {
  readonly issuer: Buffer;
  readonly subject: Buffer;
  readonly publicKey: KeyObject;
  readonly extensions: readonly Buffer[];
  readonly expired: boolean;
}

const ECDSA_WITH_SHA256 = sequence(objectId("2a8648ce3d040302"));
const BOOLEAN_TRUE = element(0x01, Buffer.from([0xff]));

function certificateOf({ issuer, subject, publicKey, extensions, expired }: Body, key: KeyObject): string {
  const day = 86_400_000;
  const validity = sequence(time(Date.now() - 10 * day), time(Date.now() + (expired ? -day : day)));
  const body = sequence(
    element(0xa0, element(0x02, Buffer.from([2]))),
    element(0x02, Buffer.concat([Buffer.from([1]), randomBytes(8)])),
    ECDSA_WITH_SHA256,
    issuer,
    validity,
    subject,
    publicKey.export({ type: "spki", format: "der" }),
    element(0xa3, sequence(...extensions)),
  );
  const signature = createSign("SHA256").update(body).sign(key);
  const whole = sequence(body, ECDSA_WITH_SHA256, element(0x03, Buffer.concat([Buffer.from([0]), signature])));
  const lines = whole.toString("base64").match(/.{1,64}/g) ?? [];
  return ["-----BEGIN CERTIFICATE-----", ...lines, "-----END CERTIFICATE-----", ""].join("\n");
}

function nameOf({ commonName, organization }: CertificateName): Buffer {
  const entries = [
    ...(organization === undefined ? [] : [["55040a", organization] as const]),
    ["550403", commonName] as const,
  ];
  return sequence(
    ...entries.map(([id, text]) => element(0x31, sequence(objectId(id), element(0x0c, Buffer.from(text))))),
  );
}

function extension(id: string, value: Buffer, critical: boolean): Buffer {
  return sequence(objectId(id), ...(critical ? [BOOLEAN_TRUE] : []), element(0x04, value));
}

function time(at: number): Buffer {
  const digits = new Date(at).toISOString().replaceAll(/\D/g, "").slice(2, 14);
  return element(0x17, Buffer.from(`${digits}Z`));
}

function objectId(hex: string): Buffer {
  return element(0x06, Buffer.from(hex, "hex"));
}

function sequence(...elements: readonly Buffer[]): Buffer {
  return element(0x30, Buffer.concat(elements));
}

function element(tag: number, content: Buffer): Buffer {
  const { length } = content;
  const size = length < 128 ? [length] : length < 256 ? [0x81, length] : [0x82, length >> 8, length & 0xff];
  return Buffer.concat([Buffer.from([tag, ...size]), content]);
}
