import { type ReadonlySignal, signal } from "@preact/signals";
import { SERVER_URL } from "./place.ts";

const KEY = "palaver-console-session";

interface Session {
  readonly token: string;
  /** ISO 8601. Absent: not known. */
  readonly expiresAt?: string;
}

const kept = signal<Session | undefined>(readKept());

/** The token for the operator API. `undefined`: the page was not opened with the start-up URL, or the session has expired. */
export const sessionToken: ReadonlySignal<Session | undefined> = kept;

function readKept(): Session | undefined {
  const [token = "", expiresAt] = (sessionStorage.getItem(KEY) ?? "").split(" ");
  if (token === "") return undefined;
  if (expiresAt === undefined) return { token };
  return Date.parse(expiresAt) > Date.now() ? { token, expiresAt } : undefined;
}

/** Keeps a token for this tab. It is in no cookie, so other pages cannot use it. */
export function keepSession(session: Session): void {
  sessionStorage.setItem(KEY, [session.token, session.expiresAt].filter(Boolean).join(" "));
  kept.value = session;
}

/** The server refused the token. */
export function forgetSession(): void {
  sessionStorage.removeItem(KEY);
  kept.value = undefined;
}

/** Exchanges the code in the fragment of the start-up URL for a session, and removes it from the address bar. */
export async function openSessionFromUrl(): Promise<void> {
  const code = location.hash.slice(1);
  if (!/^[\w-]{32}$/.test(code)) return;
  history.replaceState(null, "", location.pathname + location.search);
  try {
    const response = await fetch(`${SERVER_URL}/operator/v1/console-sessions`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ code }),
    });
    if (!response.ok) return;
    const { token, expiresAt } = (await response.json()) as Session;
    keepSession({ token, ...(expiresAt !== undefined && { expiresAt }) });
  } catch {
    // The server cannot be reached. The page says so once it reads from it.
  }
}
