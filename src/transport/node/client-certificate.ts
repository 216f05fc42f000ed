import type { Socket } from "node:net";
import { type PeerCertificate, TLSSocket } from "node:tls";
import type { ClientCertificate } from "../../auth/verify/contract.ts";

/** The caller's certificate, if the server requested one and trusts its issuer. */
export function clientCertificate(socket: Socket): ClientCertificate | undefined {
  if (!(socket instanceof TLSSocket) || !socket.authorized) return undefined;
  const certificate = socket.getPeerCertificate();
  // Node returns an empty object without a certificate.
  if (certificate.fingerprint256 === undefined) return undefined;
  const { subject, subjectaltname, fingerprint256: fingerprint } = certificate;
  return {
    subject: distinguishedName(subject),
    commonName: typeof subject.CN === "string" ? subject.CN : undefined,
    alternativeNames: alternativeNames(subjectaltname ?? ""),
    fingerprint,
  };
}

/** The distinguished name in the syntax of RFC 4514, but in the order of the certificate. Separators within values are escaped. */
export function distinguishedName(subject: PeerCertificate["subject"]): string {
  return Object.entries(subject)
    .flatMap(([type, value = []]) =>
      (typeof value === "string" ? [value] : value).map((one) => `${type}=${escaped(one)}`),
    )
    .join(",");
}

function escaped(value: string): string {
  return value
    .replaceAll(/[,+"\\<>;=]/g, "\\$&")
    .replaceAll(/^[ #]| $/g, "\\$&")
    .replaceAll(/\p{Cc}/gu, (character) => `\\${character.charCodeAt(0).toString(16).padStart(2, "0")}`);
}

/** Node writes an ambiguous name as a JSON string after its kind. */
export function alternativeNames(text: string): readonly string[] {
  const names = text.match(/(?:[^,"]|"(?:[^"\\]|\\.)*")+/g) ?? [];
  return names.map((name) => {
    const [, kind = "", quoted] = /^\s*(\w[\w ]*:)("(?:[^"\\]|\\.)*")$/.exec(name) ?? [];
    return quoted === undefined ? name.trim() : `${kind}${JSON.parse(quoted)}`;
  });
}
