import type { Verified } from "./contract.ts";
import { matchesPassword, type PasswordHash, parsePasswordHash } from "./password-hash.ts";
import { cannotVerify } from "./request-credentials.ts";

/** A user of HTTP Basic authentication. */
export interface BasicUser {
  /** A hash from `hashPassword`, not the password itself. */
  readonly password: string;
  /** Default: none. */
  readonly scopes?: readonly string[];
  readonly tenant?: string;
}

/** Passwords checked at a time, and checks that may wait. Each check takes a good part of a second of one processor. */
const MAX_CHECKS = 4;
const MAX_WAITING = 64;
/** Valid passwords are remembered for this many milliseconds, and at most this many of them. */
const REMEMBERED_FOR = 60_000;
const MAX_REMEMBERED = 1000;

/** Checks names and passwords. The time a check takes reveals nothing, and the number of concurrent checks is bounded. */
export function createUserCheck(
  users: Readonly<Record<string, BasicUser>>,
): (user: string, password: string) => Promise<Verified | undefined> {
  const known = new Map(Object.entries(users).map(([name, user]) => [name, knownUser(name, user)]));
  const [example] = known.values();
  const line = new Line();
  const seal = createSeal();
  const held = new Map<string, number>();
  return async (name, password) => {
    const user = known.get(name);
    const token = await seal(name, password);
    if (user !== undefined && (held.get(token) ?? 0) > performance.now()) return user.verified;
    // An unknown user takes as long as a known one.
    const expected = user?.hash ?? example?.hash;
    const matches = expected !== undefined && (await line.take(() => matchesPassword(password, expected)));
    if (user === undefined || !matches) return undefined;
    const [oldest] = held.keys();
    if (held.size >= MAX_REMEMBERED && oldest !== undefined) held.delete(oldest);
    held.set(token, performance.now() + REMEMBERED_FOR);
    return user.verified;
  };
}

interface KnownUser {
  readonly hash: PasswordHash;
  readonly verified: Verified;
}

function knownUser(id: string, { password, scopes = [], tenant }: BasicUser): KnownUser {
  if (id === "" || id.includes(":"))
    throw new TypeError(`A user's name must be non-empty and must not contain a colon: ${JSON.stringify(id)}.`);
  return { hash: parsePasswordHash(password), verified: { id, scopes, ...(tenant !== undefined && { tenant }) } };
}

/** A keyed hash of a name and a password for the cache; useless outside this process. */
function createSeal(): (name: string, password: string) => Promise<string> {
  const made = crypto.subtle.generateKey({ name: "HMAC", hash: "SHA-256" }, false, ["sign"]);
  return async (name, password) => {
    const text = new TextEncoder().encode(`${name}:${password}`);
    const signature = await crypto.subtle.sign("HMAC", await made, text);
    return String.fromCharCode(...new Uint8Array(signature));
  };
}

/** Runs a bounded number of checks at a time; a bounded number waits. */
class Line {
  #working = 0;
  readonly #waiting: Array<() => void> = [];

  /** Throws `unavailable` if too many checks wait already: an attacker must not fill the memory with guesses. */
  async take<T>(work: () => Promise<T>): Promise<T> {
    if (this.#working >= MAX_CHECKS) {
      if (this.#waiting.length >= MAX_WAITING) throw cannotVerify();
      await new Promise<void>((resolve) => this.#waiting.push(resolve));
    } else this.#working += 1;
    try {
      return await work();
    } finally {
      // The check that has waited longest takes over the slot.
      const next = this.#waiting.shift();
      if (next === undefined) this.#working -= 1;
      else next();
    }
  }
}
