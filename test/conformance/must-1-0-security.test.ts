import { request } from "node:https";
import { text as readText } from "node:stream/consumers";
import type { TLSSocket } from "node:tls";
import { verifyCard } from "palaver/client";
import { describe, expect, it } from "vitest";
import { createAuthority } from "../../src/platform/test/certificate-authority.ts";
import { accepted, refusalOf, refused, taskOf, text } from "./dialect-client.ts";
import { DIALECT_CLIENTS_1_0 } from "./dialect-clients.ts";
import { inEveryDialect } from "./every-dialect.ts";
import { everyOperation } from "./every-operation.ts";
import { GUARDED } from "./guarded.ts";
import { exchange, jsonOf } from "./http.ts";
import { openInbox } from "./inbox.ts";
import { openTestServer } from "./test-server.ts";

const CARD = "/.well-known/agent-card.json";

/** Everything that the server logs. */
const logged: string[] = [];
const note = (message: string, fields?: object): void => {
  logged.push(
    `${message} ${JSON.stringify(fields, (_, value) => (value instanceof Error ? String(value.stack) : value))}`,
  );
};
const logger = { debug: note, info: note, warn: note, error: note };

/** The security requirements for a server of 1.0, by number; `musts.test.ts` checks that none is missing. */
inEveryDialect(
  DIALECT_CLIENTS_1_0,
  ({ dialectClient, caller, textToRun, url }) => {
    const by = (token: string, agent?: "discreet" | "echo") => caller(agent, { token });
    const asking = () => text(textToRun(async (task) => `You chose ${await task.ask("Which?")}`));

    it("1.0 MUST 52: the extended card requires authentication by a declared scheme", async () => {
      const card = await exchange({ method: "GET", url: `${url()}${CARD}`, headers: { "a2a-version": "1.0" } });
      expect(JSON.parse(card.text)).toMatchObject({
        securitySchemes: { names: { httpAuthSecurityScheme: { scheme: "bearer" } } },
        securityRequirements: [{ schemes: { names: { list: [] } } }],
      });
      expect(await refusalOf(caller("discreet").extendedCard())).toBe("Unauthenticated");
      expect(await refusalOf(by("mallory", "discreet").extendedCard())).toBe("Unauthenticated");
      expect(await accepted(by("alice", "discreet").extendedCard())).toMatchObject({ skills: [{ id: "secret" }] });
    });

    it("1.0 MUST 55: the caller is authorised before it gets the extended card", async () => {
      const outcome = await by("bob", "discreet").extendedCard();
      expect(await refusalOf(outcome)).toBe("PermissionDenied");
      expect(outcome.http.text).not.toContain("secret");
    });

    it("1.0 MUST 60: the response for an inaccessible task is the same as for a missing one", async () => {
      const { id } = await taskOf(by("alice").send(asking()));
      for (const { ask } of everyOperation(dialectClient).filter(
        ({ ofTask, operation }) => ofTask && operation !== "cancel",
      )) {
        const [absent, hidden] = [await refused(ask(by("bob"), "nothing")), await refused(ask(by("bob"), id))];
        expect(JSON.stringify(hidden)).toBe(JSON.stringify(absent).replaceAll("nothing", id));
      }
    });

    it("1.0 MUST 61: missing and invalid credentials are refused with a challenge", async () => {
      for (const [token, challenge] of [
        [undefined, 'Bearer realm="palaver"'],
        ["mallory", 'Bearer realm="palaver", error="invalid_token"'],
      ] as const) {
        const outcome = await caller(undefined, token === undefined ? {} : { token }).get("x");
        expect([await refusalOf(outcome), outcome.http.status]).toEqual(["Unauthenticated", 401]);
        expect(outcome.http.headers.get("www-authenticate")).toBe(challenge);
      }
    });

    describe("1.0 MUST 71: every request is authenticated", () => {
      it.each(everyOperation(dialectClient))("$operation", async ({ ask }) => {
        for (const stranger of [caller(), by("mallory")]) {
          expect(await refusalOf(ask(stranger, "x"))).toBe("Unauthenticated");
        }
      });
    });

    it("1.0 MUST 72: every operation is authorised and limited to the caller's tasks", async () => {
      const { id } = await taskOf(by("alice").send(asking()));
      for (const { operation, ofTask, ask } of everyOperation(dialectClient)) {
        const outcome = await ask(by("carol"), id);
        if (ofTask) expect([operation, await refusalOf(outcome)]).toEqual([operation, "TaskNotFound"]);
        expect(ofTask ? "" : outcome.http.text).not.toContain(id);
      }
      expect((await accepted(by("alice").get(id))).status.state).toBe("input-required");
      // A caller with fewer scopes may do less, also with its own tasks.
      const { id: own } = await taskOf(by("bob").send(asking()));
      expect(await refusalOf(by("bob").cancel(own))).toBe("PermissionDenied");
      expect((await accepted(by("bob").get(own))).status.state).toBe("input-required");
    });

    it("1.0 MUST 73: nothing is looked up for a refused caller, so no response reveals which tasks exist", async () => {
      const { id } = await taskOf(by("alice").send(asking()));
      const refusal = async (token: string, taskId: string) => {
        const { http } = await by(token).cancel(taskId);
        return [http.status, http.headers.get("www-authenticate"), http.text.replace(/"id":("request-\d+"|\d+)/, "")];
      };
      for (const token of ["mallory", "bob"]) expect(await refusal(token, id)).toEqual(await refusal(token, "nothing"));
      expect((await refusal("bob", id))[0]).toBe(403);
    });

    it("1.0 MUST 74: it is served over TLS if a certificate is configured", async () => {
      const authority = createAuthority("Authority");
      await using secured = await openTestServer({ ...GUARDED, tls: authority.issue({ commonName: "localhost" }) });
      expect(secured.url).toMatch(/^https:/);
      const { status, protocol, body } = await overTls(`${secured.url}${CARD}`, authority.cert);
      expect([status, protocol]).toEqual([200, "TLSv1.3"]);
      for (const { url, protocolBinding } of JSON.parse(body).supportedInterfaces)
        expect(url).toMatch(protocolBinding === "GRPC" ? /^127\.0\.0\.1:\d+$/ : /^https:/);
    });

    it("1.0 MUST 75: a task that needs an authorisation describes it, keeps its streams open, and continues once it is granted", async () => {
      const opening = textToRun(async (task) => {
        await task.requireAuth({ message: "Please sign in", schemes: ["sso"] });
        return "thanks";
      });
      const stream = await accepted(by("alice").stream(text(opening)));
      const frames = await stream.until((frame) => frame.kind === "status" && frame.status.state === "auth-required");
      const asked = frames.at(-1);
      if (asked?.kind !== "status") throw new Error("It is a status.");
      expect(asked.status.message?.parts[0]).toEqual({ text: "Please sign in" });
      await accepted(by("alice").send({ ...text("signed in"), taskId: asked.taskId }));
      expect((await stream.rest()).at(-1)).toMatchObject({ kind: "status", status: { state: "completed" } });
    });

    it("1.0 MUST 76: secrets appear neither in responses nor in logs", async () => {
      await using inbox = await openInbox((_, response) => void response.writeHead(500).end());
      const push = {
        url: inbox.url("/hook?key=hush-query"),
        token: "hush-token",
        authentication: { schemes: ["Bearer"], credentials: "hush-credentials" },
      };
      const { id } = await taskOf(by("alice").send(asking(), { push }));
      for (const _ of [1, 2]) await inbox.next();
      const listed = await by("alice").pushList(id);
      expect((await accepted(listed)).webhooks).toHaveLength(1);
      expect(listed.http.text).not.toMatch(/hush-(token|credentials)/);
      await by("hush0secret").get(id);
      expect(logged.join("\n")).not.toContain("hush");
      expect(logged.length).toBeGreaterThan(0);
    });
  },
  { ...GUARDED, logger },
);

inEveryDialect(
  DIALECT_CLIENTS_1_0,
  ({ url }) => {
    const read = async (path: string) =>
      jsonOf<Record<string, unknown>>(
        await exchange({ method: "GET", url: `${url()}${path}`, headers: { "a2a-version": "1.0" } }),
      );
    type Signed = { readonly signatures: readonly { readonly protected: string; readonly signature: string }[] };
    type Keys = NonNullable<Parameters<typeof verifyCard>[1]["jwks"]>;

    it("1.0 MUST 4: the signature of a card covers its canonical JSON without the signatures", async () => {
      const card = await read(CARD);
      const jwks = (await read("/.well-known/jwks.json")) as unknown as Keys;
      const { json } = await verifyCard(card, { jwks });
      expect(json).toMatchObject({ name: "actor" });
      expect("signatures" in json).toBe(false);
      await expect(verifyCard({ ...card, name: "other" }, { jwks })).rejects.toMatchObject({
        code: "invalid-signature",
      });
    });

    it("1.0 MUST 5: the protected header of a signature has the algorithm and the key id", async () => {
      const { signatures } = (await read(CARD)) as unknown as Signed;
      const { keys } = (await read("/.well-known/jwks.json")) as unknown as Keys;
      for (const { protected: header } of signatures) {
        const { alg, kid } = JSON.parse(Buffer.from(header, "base64url").toString());
        expect([alg, keys.map((key) => key.kid)]).toEqual(["ES256", [kid]]);
      }
      expect(signatures.length).toBeGreaterThan(0);
    });
  },
  { signCards: true },
);

/** Sends a GET that trusts only this certificate authority. */
function overTls(url: string, ca: string): Promise<{ status: number; protocol: string | null; body: string }> {
  return new Promise((resolve, reject) => {
    request(url, { ca, headers: { "a2a-version": "1.0" } }, (response) => {
      const protocol = (response.socket as TLSSocket).getProtocol();
      readText(response).then((body) => resolve({ status: response.statusCode ?? 0, protocol, body }), reject);
    })
      .on("error", reject)
      .end();
  });
}
