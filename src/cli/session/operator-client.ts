import { operatorFileOf, readOperatorFile } from "../../platform/observe/operator-file.ts";
import { DEFAULT_STORE } from "../../platform/settings/settings.ts";
import { messageOf, StartupError } from "../../platform/startup-error.ts";
import type { CliContext } from "../context.ts";

/** How the operator API is found. */
export interface OperatorFlags {
  readonly store?: string;
  readonly url?: string;
}

/** A JSON object of the operator API. */
export type OperatorAnswer = Readonly<Record<string, unknown>>;

/** Calls the operator API of a server on this machine. */
export interface OperatorClient {
  get(path: string, query?: Readonly<Record<string, string | undefined>>): Promise<OperatorAnswer>;
  post(path: string, body: object): Promise<OperatorAnswer>;
}

/** Why the operator API did not do what was asked. */
export class OperatorError extends StartupError {
  /** `absent`: the operator API that the token belongs to is not at the address. */
  readonly reason: "absent" | "not-found" | "refused";

  constructor(reason: OperatorError["reason"], message: string, options?: { readonly cause?: unknown }) {
    super("failed", message, options);
    this.reason = reason;
  }
}

/** Milliseconds until a server that does not answer counts as not running. */
const TIMEOUT = 10_000;

/** Throws a {@link StartupError} that says what to do if the token is missing. Calls reject with an {@link OperatorError}. */
export function operatorClient({ store = DEFAULT_STORE, url }: OperatorFlags, context: CliContext): OperatorClient {
  const { env, cwd, fetch } = context;
  const file = operatorFileOf(store, cwd);
  const known = env["PALAVER_OPERATOR_TOKEN"] || file === undefined ? undefined : readOperatorFile(file);
  const token = env["PALAVER_OPERATOR_TOKEN"] || known?.token;
  if (token === undefined) {
    throw new StartupError(
      "failed",
      file === undefined
        ? "A store in memory has no operator file. Set PALAVER_OPERATOR_TOKEN and --url."
        : `There is no operator file ${file}.\nName the store of the server with --store, or start the server first: palaver serve`,
    );
  }
  const base = `${(url ?? known?.url ?? "http://127.0.0.1:3000").replace(/\/$/, "")}/operator/v1`;
  const call = async (path: string, init: RequestInit): Promise<OperatorAnswer> => {
    const headers = { authorization: `Bearer ${token}`, "content-type": "application/json" };
    const signal = AbortSignal.any([context.signal, AbortSignal.timeout(TIMEOUT)]);
    let response: Response;
    try {
      response = await fetch(base + path, { ...init, headers, signal, redirect: "error" });
    } catch (error) {
      throw new OperatorError(
        "absent",
        `No server answers at ${base}.\nStart it (palaver serve), or name its address with --url and its store with --store.`,
        { cause: error },
      );
    }
    return answerOf(response, base);
  };
  return {
    get(path, query = {}) {
      const parameters = Object.entries(query).flatMap(([name, value]) =>
        value === undefined ? [] : [[name, value] as const],
      );
      const text = new URLSearchParams(Object.fromEntries(parameters)).toString();
      return call(text === "" ? path : `${path}?${text}`, { method: "GET" });
    },
    post: (path, body) => call(path, { method: "POST", body: JSON.stringify(body) }),
  };
}

/** The server of another store does not know the token, or has none. */
const REASONS: ReadonlyMap<number, OperatorError["reason"]> = new Map([
  [401, "absent"],
  [403, "absent"],
  [404, "not-found"],
]);

async function answerOf(response: Response, base: string): Promise<OperatorAnswer> {
  const body: unknown = await response.json().catch(() => undefined);
  if (typeof body !== "object" || body === null)
    throw new OperatorError("absent", `${base} is not the operator API of a Palaver server (HTTP ${response.status}).`);
  const answer: OperatorAnswer = { ...body };
  if (response.ok) return answer;
  const { error } = answer;
  const message =
    typeof error === "object" && error !== null && "message" in error ? messageOf(error.message) : "no message";
  const hint =
    response.status === 401 ? "\nThe token belongs to another store: name the store of this server with --store." : "";
  const reason = REASONS.get(response.status) ?? "refused";
  throw new OperatorError(reason, `The server refused the request (HTTP ${response.status}): ${message}${hint}`);
}
