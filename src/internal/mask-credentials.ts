const SHOWN = "[hidden]";

/** A scheme of `Authorization`, and what follows it. */
const AUTHORIZATION = /\b(Bearer|Basic) +[\w.~+/=-]{6,}/gi;
/** `password=…`, `"api_key": "…"` and the like, in texts, headers, JSON and queries of URLs. */
const NAMED =
  /\b((?:api|access|secret|private)[-_]?(?:key|token)|(?:client[-_]?)?secret|password|token)(["']?\s*[=:]\s*["']?)[^\s"'&,;)}\]]{4,}/gi;
/** User and password before the host of a URL. */
const USER_INFO = /(\b[a-z][a-z+.-]*:\/\/)[^\s/@:]+:[^\s/@]+@/gi;
/** Keys that begin as those of well-known services do. */
const KNOWN_KEY = /\b(?:sk|pk|rk)[-_][\w-]{16,}|\bgh[pousr]_\w{20,}|\bxox[abprs]-[\w-]{10,}|\bAKIA[0-9A-Z]{16}\b/g;

/** The text without credentials of well-known forms. Others stay: a text may always contain something secret. */
export function maskCredentials(text: string): string {
  return text
    .replace(AUTHORIZATION, `$1 ${SHOWN}`)
    .replace(USER_INFO, `$1${SHOWN}@`)
    .replace(KNOWN_KEY, SHOWN)
    .replace(NAMED, `$1$2${SHOWN}`);
}
