const MASK = "[redacted]";

/** Headers that say who calls. */
const SECRET_HEADERS =
  /^(?:authorization|proxy-authorization|cookie|set-cookie)$|token|secret|api-?key|password|credential|signature|session/i;

/** Members of JSON bodies and fields of forms that are secrets, wherever they stand. */
const SECRET_MEMBERS =
  /("(?:access_?token|refresh_?token|id_?token|device_?code|client_?secret|client_?assertion|password|token|credentials|api_?key|code_?verifier)"\s*:\s*)"(?:[^"\\]|\\.)*"/gi;
const SECRET_FIELDS =
  /((?:^|[?&])(?:access_token|refresh_token|device_code|client_secret|client_assertion|password|token|api[_-]?key|key|code_verifier)=)[^&\s"]*/gi;

/** Shorter ones would be found in anything. */
const SHORTEST = 4;

/** Takes secrets out of what people and logs get to see. There is no switch for it. */
export class Redaction {
  readonly #secrets = new Set<string>();
  readonly #headers = new Set<string>();

  /** A text that must not be seen, by itself or within another. */
  hide(secret: string | undefined): void {
    if (secret === undefined || secret.length < SHORTEST) return;
    this.#secrets.add(secret);
    this.#secrets.add(encodeURIComponent(secret));
    this.#secrets.add(JSON.stringify(secret).slice(1, -1));
  }

  /** A header whose value must not be seen. */
  hideHeader(name: string): void {
    this.#headers.add(name.toLowerCase());
  }

  header(name: string, value: string): string {
    if (SECRET_HEADERS.test(name) || this.#headers.has(name.toLowerCase())) return MASK;
    return this.text(value);
  }

  text(text: string): string {
    let shown = text.replaceAll(SECRET_MEMBERS, `$1"${MASK}"`).replaceAll(SECRET_FIELDS, `$1${MASK}`);
    // The longest first: one may be part of another.
    for (const secret of [...this.#secrets].sort((a, b) => b.length - a.length)) shown = shown.replaceAll(secret, MASK);
    return shown;
  }
}
