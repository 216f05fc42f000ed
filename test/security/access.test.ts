import { type CryptoKey, exportJWK, generateKeyPair, SignJWT } from "jose";
import { agent, type ServerOptions } from "palaver";
import { jwtBearer } from "palaver/auth";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import {
  accepted,
  type Caller,
  type DialectClient,
  type Outcome,
  taskOf,
  text,
} from "../conformance/dialect-client.ts";
import { DIALECT_CLIENTS } from "../conformance/dialect-clients.ts";
import { optionsFor } from "../conformance/every-dialect.ts";
import type { RefusalName } from "../conformance/refusals.ts";
import { type Served, sampledOnNodes, serveAgents } from "../fixtures/nodes/serve-agents.ts";
import { SILENT } from "./attack-surface.ts";

/** Every operation, for every kind of caller, in every dialect: checks the exact response. */

const ISSUER = "https://issuer.example";
const AUDIENCE = "https://agents.example";
const HOOK = "https://hooks.example.com/notify";
const UNKNOWN = "00000000-0000-7000-8000-000000000000";

interface Subject {
  readonly sub: string;
  readonly tenant: string;
  readonly scope: string;
  /** Seconds from now. */
  readonly expires: number;
}

const ADA: Subject = { sub: "ada", tenant: "north", scope: "use other", expires: 600 };

const keys = await generateKeyPair("ES256");
const otherKeys = await generateKeyPair("ES256");
const jwks = { keys: [{ ...(await exportJWK(keys.publicKey)), kid: "k1", alg: "ES256" }] };

function tokenOf({ sub, tenant, scope, expires }: Subject, key: CryptoKey = keys.privateKey): Promise<string> {
  const now = Math.floor(Date.now() / 1000);
  return new SignJWT({ scope, tenant })
    .setProtectedHeader({ alg: "ES256", kid: "k1" })
    .setIssuer(ISSUER)
    .setAudience(AUDIENCE)
    .setSubject(sub)
    .setIssuedAt(now - 1200)
    .setExpirationTime(now + expires)
    .sign(key);
}

/** The credentials of a kind of caller, and its refusal, if any. */
interface Kind {
  readonly name: string;
  readonly token: string | undefined;
  /** Refused for every operation, with this challenge. */
  readonly refusal?: { readonly as: RefusalName; readonly challenge: string };
  /** Authenticated, but owner of none of the tasks. */
  readonly stranger: boolean;
}

const unauthenticated = (problem = ""): NonNullable<Kind["refusal"]> => ({
  as: "Unauthenticated",
  challenge: `Bearer realm="palaver"${problem}`,
});

const KINDS: readonly Kind[] = [
  { name: "no credentials", token: undefined, refusal: unauthenticated(), stranger: true },
  {
    name: "bad credentials",
    token: await tokenOf(ADA, otherKeys.privateKey),
    refusal: unauthenticated(', error="invalid_token"'),
    stranger: true,
  },
  {
    name: "expired credentials",
    token: await tokenOf({ ...ADA, expires: -600 }),
    refusal: unauthenticated(', error="invalid_token"'),
    stranger: true,
  },
  {
    name: "a missing scope",
    token: await tokenOf({ ...ADA, scope: "other" }),
    refusal: {
      as: "PermissionDenied",
      challenge: 'Bearer realm="palaver", error="insufficient_scope", scope="use"',
    },
    stranger: true,
  },
  { name: "another owner", token: await tokenOf({ ...ADA, sub: "eve" }), stranger: true },
  { name: "another tenant", token: await tokenOf({ ...ADA, tenant: "south" }), stranger: true },
  { name: "the right credentials", token: await tokenOf(ADA), stranger: false },
];

/** The task and webhook of the operations: Ada's task, which waits for an answer. */
interface Things {
  readonly task: string;
  readonly config: string;
}

interface Row {
  readonly operation: string;
  /** Other callers get "task not found". */
  readonly ofTask: boolean;
  readonly isSupported?: (dialectClient: DialectClient) => boolean;
  ask(caller: Caller, things: Things): Promise<Outcome<unknown>>;
}

/** Ordered so that each operation leaves the next ones something to act on. */
const ROWS: readonly Row[] = [
  { operation: "send", ofTask: false, ask: (caller) => caller.send(text("hello")) },
  { operation: "stream", ofTask: false, ask: (caller) => closed(caller.stream(text("hello"))) },
  { operation: "get", ofTask: true, ask: (caller, { task }) => caller.get(task) },
  {
    operation: "list",
    ofTask: false,
    isSupported: ({ rules }) => rules.list !== "none",
    ask: (caller) => caller.list(),
  },
  { operation: "subscribe", ofTask: true, ask: (caller, { task }) => closed(caller.subscribe(task)) },
  { operation: "push-create", ofTask: true, ask: (caller, { task }) => caller.pushCreate(task, HOOK) },
  { operation: "push-get", ofTask: true, ask: (caller, { task, config }) => caller.pushGet(task, config) },
  {
    operation: "push-list",
    ofTask: true,
    isSupported: ({ rules }) => rules.managesPush,
    ask: (caller, { task }) => caller.pushList(task),
  },
  {
    operation: "push-delete",
    ofTask: true,
    isSupported: ({ rules }) => rules.managesPush,
    ask: (caller, { task, config }) => caller.pushDelete(task, config),
  },
  {
    operation: "extended-card",
    ofTask: false,
    isSupported: ({ rules }) => rules.undeclaredExtendedCard !== undefined,
    ask: (caller) => caller.extendedCard(),
  },
  {
    operation: "cancel",
    ofTask: true,
    ask: (caller, { task }) => caller.cancel(task),
  },
];

describe.each(sampledOnNodes(DIALECT_CLIENTS, 8))("$dialect", (dialectClient) => {
  let server: Served | undefined;
  let url = "";
  let things: Things = { task: "", config: "" };
  const callerOf = ({ token }: Kind): Caller => dialectClient.at(url, token === undefined ? {} : { token });
  const ada = (): Caller => callerOf(KINDS.at(-1) as Kind);

  beforeAll(async () => {
    server = await serveAgents(vault(), {
      ...optionsFor(dialectClient),
      ...serverOptions(),
    });
    ({ url } = server);
    const { id } = await taskOf(ada().send(text("ask")));
    const created = await ada().pushCreate(id, HOOK);
    await accepted(created);
    things = { task: id, config: configIdIn(JSON.parse(created.http.text)) ?? "the-only-one" };
  });
  afterAll(() => server?.close());

  for (const row of ROWS.filter(({ isSupported }) => isSupported?.(dialectClient) ?? true)) {
    describe(row.operation, () => {
      it.each(KINDS.filter(({ refusal }) => refusal !== undefined))("with $name is refused", async (kind) => {
        const outcome = await row.ask(callerOf(kind), things);
        expect(outcome).toMatchObject({ ok: false, refusal: { name: kind.refusal?.as } });
        expect(outcome.http.status).toBe(kind.refusal?.as === "PermissionDenied" ? 403 : 401);
        expect(outcome.http.headers.get("www-authenticate")).toBe(kind.refusal?.challenge);
        expect(outcome.http.headers.get("cache-control") ?? "no-store").toMatch(/no-store|no-cache|private/);
        // The response contains neither task data nor the credentials.
        expect(outcome.http.text).not.toContain(things.task);
        for (const { token } of KINDS) if (token !== undefined) expect(outcome.http.text).not.toContain(token);
        if (!row.ofTask) return;
        const unknown = await row.ask(callerOf(kind), { ...things, task: UNKNOWN });
        expect(withoutRequestId(outcome.http.text)).toBe(withoutRequestId(unknown.http.text));
        expect(headersIn(outcome)).toEqual(headersIn(unknown));
      });

      it.each(KINDS.filter(({ refusal, stranger }) => refusal === undefined && stranger))(
        "by $name returns nothing of Ada's",
        async (kind) => {
          const outcome = await row.ask(callerOf(kind), things);
          if (!row.ofTask) {
            expect(outcome.ok).toBe(true);
            expect(outcome.http.text).not.toContain(things.task);
            return;
          }
          expect(outcome).toMatchObject({ ok: false, refusal: { name: "TaskNotFound" } });
          const unknown = await row.ask(callerOf(kind), { ...things, task: UNKNOWN });
          expect(withoutRequestId(outcome.http.text).replaceAll(things.task, UNKNOWN)).toBe(
            withoutRequestId(unknown.http.text),
          );
          expect(outcome.http.status).toBe(unknown.http.status);
          expect(headersIn(outcome)).toEqual(headersIn(unknown));
        },
      );

      it("with the right credentials succeeds", async () => {
        const outcome = await row.ask(ada(), things);
        expect(outcome.ok, outcome.http.text).toBe(true);
        expect(outcome.http.status).toBeLessThan(300);
        expect(outcome.http.headers.get("www-authenticate")).toBeNull();
      });
    });
  }
});

describe("plain", () => {
  const routes = ["POST /a2a/tasks/send", "GET /a2a/tasks/TASK"];
  let server: Served | undefined;
  let url = "";
  let task = "";
  const ask = (line: string, { token }: Kind, id = task): Promise<Response> => {
    const [method = "", path = ""] = line.split(" ");
    return fetch(url + path.replace("TASK", id), {
      method,
      headers: {
        ...(method === "POST" && { "content-type": "application/json" }),
        ...(token !== undefined && { authorization: `Bearer ${token}` }),
      },
      ...(method === "POST" && { body: '{"message":"hello"}' }),
    });
  };

  beforeAll(async () => {
    server = await serveAgents(vault(), serverOptions());
    ({ url } = server);
    const sent = await ask(routes[0] ?? "", KINDS.at(-1) as Kind);
    task = ((await sent.json()) as { id: string }).id;
  });
  afterAll(() => server?.close());

  describe.each(routes)("%s", (line) => {
    it.each(KINDS)("with $name gets the expected response", async (kind) => {
      const answer = await ask(line, kind);
      const body = await answer.text();
      if (kind.refusal !== undefined) {
        expect(answer.status).toBe(kind.refusal.as === "PermissionDenied" ? 403 : 401);
        expect(answer.headers.get("www-authenticate")).toBe(kind.refusal.challenge);
        expect(body).not.toContain(task);
      } else if (kind.stranger && line.startsWith("GET")) {
        expect(answer.status).toBe(404);
        expect(body.replaceAll(task, UNKNOWN)).toBe(await (await ask(line, kind, UNKNOWN)).text());
      } else expect(answer.status).toBe(200);
    });
  });
});

function serverOptions(): ServerOptions {
  return {
    host: "127.0.0.1",
    port: 0,
    store: "memory:",
    drainTimeout: 0,
    logger: SILENT,
    security: {
      schemes: { jwt: jwtBearer({ issuer: ISSUER, audience: AUDIENCE, jwks, tenantClaim: "tenant" }) },
      policies: [{ scopes: ["use"] }],
    },
  };
}

function vault() {
  return agent({
    id: "vault",
    name: "Vault",
    description: "Keeps things.",
    version: "1.0.0",
    extendedCard: { description: "Keeps more things." },
    async run(task) {
      if (task.text === "ask") await task.ask("What is the word?");
      return "done";
    },
  });
}

/** Returns the response that opened a stream, and closes the stream. */
async function closed(opening: Promise<Outcome<{ close(): Promise<void> }>>): Promise<Outcome<unknown>> {
  const outcome = await opening;
  if (outcome.ok) await outcome.value.close();
  return outcome;
}

/** The webhook id in a response of any dialect. */
function configIdIn(value: unknown): string | undefined {
  if (typeof value !== "object" || value === null) return undefined;
  const { url, id, name } = value as { readonly url?: unknown; readonly id?: unknown; readonly name?: unknown };
  if (typeof name === "string") return name.split("/").at(-1);
  if (typeof url === "string" && typeof id === "string") return id;
  for (const member of Object.values(value)) {
    const found = configIdIn(member);
    if (found !== undefined) return found;
  }
  return undefined;
}

function withoutRequestId(answer: string): string {
  return answer.replace(/"id":("request-\d+"|\d+)/, '"id":0');
}

function headersIn({ http }: Outcome<unknown>): Record<string, string> {
  return Object.fromEntries([...http.headers].filter(([name]) => name !== "date" && name !== "content-length"));
}
