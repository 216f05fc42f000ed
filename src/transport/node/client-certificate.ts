import type { Socket } from "node:net";
import { type PeerCertificate, TLSSocket } from "node:tls";
import type { ClientCertificate } from "../../auth/verify/contract.ts";

/** The certificate that a caller has shown, if the server asked for one and trusts who issued it. */
export function clientCertificate(socket: Socket): ClientCertificate | undefined {
  if (!(socket instanceof TLSSocket) || !socket.authorized) return undefined;
  const certificate = socket.getPeerCertificate();
  // Node gives an empty object where there is none.
  if (certificate.fingerprint256 === undefined) return undefined;
  const { subject, subjectaltname, fingerprint256: fingerprint } = certificate;
  return {
    subject: distinguishedName(subject),
    commonName: typeof subject.CN === "string" ? subject.CN : undefined,
    alternativeNames: alternativeNames(subjectaltname ?? ""),
    fingerprint,
  };
}

/** As RFC 4514 writes it, but in the order of the certificate: what separates names is escaped within them. */
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

/** Node writes a name that could be taken for several as a JSON string after its kind. */
export function alternativeNames(text: string): readonly string[] {
  const names = text.match(/(?:[^,"]|"(?:[^"\\]|\\.)*")+/g) ?? [];
  return names.map((name) => {
    const [, kind = "", quoted] = /^\s*(\w[\w ]*:)("(?:[^"\\]|\\.)*")$/.exec(name) ?? [];
    return quoted === undefined ? name.trim() : `${kind}${JSON.parse(quoted)}`;
  });
}
