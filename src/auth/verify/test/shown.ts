import type { ClientCertificate, CredentialSource } from "../contract.ts";

export interface Shown {
  readonly headers?: Readonly<Record<string, string>> | Headers;
  readonly url?: string;
  readonly certificate?: ClientCertificate;
}

/** A request with these credentials. */
export function showing({ headers = {}, url = "/", certificate }: Shown): CredentialSource {
  return { method: "POST", url, headers: new Headers(headers), certificate };
}

export function bearing(token: string): CredentialSource {
  return showing({ headers: { authorization: `Bearer ${token}` } });
}
