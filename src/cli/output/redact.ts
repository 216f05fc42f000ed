const MASK = "[redacted]";

/** Headers that contain credentials. */
const SECRET_HEADERS =
  /^(?:authorization|proxy-authorization|cookie|set-cookie)$|token|secret|api-?key|password|credential|signature|session/i;

/** Names of JSON members and form fields that are secrets. */
const SECRET_MEMBERS =
  /("(?:access_?token|refresh_?token|id_?token|device_?code|client_?secret|client_?assertion|password|token|credentials|api_?key|code_?verifier)"\s*:\s*)"(?:[^"\\]|\\.)*"/gi;
const SECRET_FIELDS =
  /((?:^|[?&])(?:access_token|refresh_token|device_code|client_secret|client_assertion|password|token|api[_-]?key|key|code_verifier)=)[^&\s"]*/gi;

/** Shorter secrets are not searched for: they would match ordinary text. */
const SHORTEST = 4;

/** Removes secrets from output and logs. It cannot be turned off. */
export class Redaction {
  readonly #secrets = new Set<string>();
  readonly #headers = new Set<string>();

  /** Adds a secret to remove from all texts. */
  hide(secret: string | undefined): void {
    if (secret === undefined || secret.length < SHORTEST) return;
    this.#secrets.add(secret);
    this.#secrets.add(encodeURIComponent(secret));
    this.#secrets.add(JSON.stringify(secret).slice(1, -1));
  }

  /** Adds a header whose value is secret. */
  hideHeader(name: string): void {
    this.#headers.add(name.toLowerCase());
  }

  /** The value of a header for output: masked as a whole if the header may hold a credential. */
  header(name: string, value: string): string {
    if (SECRET_HEADERS.test(name) || this.#headers.has(name.toLowerCase())) return MASK;
    return this.text(value);
  }

  /** Removes known secrets, and the values of members and fields with secret names. */
  text(text: string): string {
    let shown = text.replaceAll(SECRET_MEMBERS, `$1"${MASK}"`).replaceAll(SECRET_FIELDS, `$1${MASK}`);
    // Longest first: one secret may contain another.
    for (const secret of [...this.#secrets].sort((a, b) => b.length - a.length)) shown = shown.replaceAll(secret, MASK);
    return shown;
  }
}
