import { createPrivateKey, X509Certificate } from "node:crypto";
import { readFileSync } from "node:fs";
import { messageOf, StartupError } from "../startup-error.ts";

/** Each a file, or what stands in it: PEM text, beginning with `-----BEGIN`. */
export interface TlsOptions {
  /** The server's certificate, with those of the authorities between it and a trusted one. */
  readonly cert: string;
  readonly key: string;
  /** Whose certificates callers may show. They are asked for one, but let in without where what is required allows that. */
  readonly clientCa?: string | undefined;
}

/** What the listener is given. */
export interface ServingTls {
  readonly cert: string;
  readonly key: string;
  readonly ca?: string;
  readonly minVersion: "TLSv1.2";
  readonly requestCert: boolean;
  /** Who shows no certificate, or one that is not trusted, may have other credentials. */
  readonly rejectUnauthorized: false;
}

/** Reads what is named and looks at it. Throws a {@link StartupError} that says which file to mend. */
export function servingTlsFrom({ cert, key, clientCa }: TlsOptions): ServingTls {
  const certificate = pemOf("certificate", cert);
  const privateKey = pemOf("key", key);
  const ca = clientCa === undefined ? undefined : pemOf("certificate of the callers' authority", clientCa);
  const parsed = sensible("certificate", cert, () => new X509Certificate(certificate));
  const secret = sensible("key", key, () => createPrivateKey(privateKey));
  if (ca !== undefined && clientCa !== undefined) {
    sensible("certificate of the callers' authority", clientCa, () => new X509Certificate(ca));
  }
  if (!parsed.checkPrivateKey(secret)) {
    throw new StartupError("usage", "The TLS key is not that of the certificate. Give the two that belong together.");
  }
  return {
    cert: certificate,
    key: privateKey,
    ...(ca !== undefined && { ca }),
    minVersion: "TLSv1.2",
    requestCert: ca !== undefined,
    rejectUnauthorized: false,
  };
}

const isPem = (text: string): boolean => text.trimStart().startsWith("-----BEGIN");

function pemOf(what: string, source: string): string {
  if (isPem(source)) return source;
  try {
    return readFileSync(source, "utf8");
  } catch (error) {
    throw new StartupError("usage", `The TLS ${what} cannot be read from ${source}: ${messageOf(error)}`, {
      cause: error,
    });
  }
}

/** Neither the text nor what the parser says of it is repeated: it may be a key. */
function sensible<T>(what: string, source: string, parse: () => T): T {
  try {
    return parse();
  } catch {
    throw new StartupError(
      "usage",
      `The TLS ${what}${isPem(source) ? "" : ` in ${source}`} is not in PEM, or is damaged.`,
    );
  }
}
