import { createPrivateKey, X509Certificate } from "node:crypto";
import { readFileSync } from "node:fs";
import { messageOf, StartupError } from "../startup-error.ts";

/** Certificate and key of an HTTPS server. Each is a file name, or PEM text that starts with `-----BEGIN`. */
export interface TlsOptions {
  /** The server's certificate, followed by the intermediate certificates. */
  readonly cert: string;
  /** The private key of the certificate. */
  readonly key: string;
  /** Authority that issues client certificates. Callers are asked for one; callers without one need other credentials. Default: none. */
  readonly clientCa?: string | undefined;
}

/** TLS options of the listener. */
export interface ServingTls {
  readonly cert: string;
  readonly key: string;
  readonly ca?: string;
  readonly minVersion: "TLSv1.2";
  readonly requestCert: boolean;
  /** Callers without a trusted certificate may have other credentials. */
  readonly rejectUnauthorized: false;
}

/** Reads and checks certificate and key. Throws a {@link StartupError} that names the invalid file. */
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
    throw new StartupError("usage", "The TLS key does not belong to the certificate.");
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

/** Tells PEM text from a file name. */
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

/** The error repeats neither the text nor the parser's message: both may contain the key. */
function sensible<T>(what: string, source: string, parse: () => T): T {
  try {
    return parse();
  } catch {
    throw new StartupError("usage", `The TLS ${what}${isPem(source) ? "" : ` in ${source}`} is not valid PEM.`);
  }
}
