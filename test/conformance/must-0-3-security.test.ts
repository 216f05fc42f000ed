import { verifyCard } from "palaver/client";
import { describe, expect, it } from "vitest";
import { accepted, refusalOf, taskOf, text } from "./dialect-client.ts";
import { DIALECT_CLIENTS_0_3 } from "./dialect-clients.ts";
import { inEveryDialect } from "./every-dialect.ts";
import { everyOperation } from "./every-operation.ts";
import { GUARDED } from "./guarded.ts";
import { exchange, jsonOf } from "./http.ts";
import { openInbox } from "./inbox.ts";

/** The security requirements for a server of 0.3, by number; `musts.test.ts` checks that none is missing. */
inEveryDialect(
  DIALECT_CLIENTS_0_3,
  ({ dialectClient, caller, textToRun, url }) => {
    const read = async (path: string) =>
      jsonOf<Record<string, unknown>>(
        await exchange({ method: "GET", url: `${url()}${path}`, headers: { "a2a-version": "0.3" } }),
      );

    describe("0.3 MUST 12: every request is authenticated as the card declares", () => {
      it("the card declares the scheme", async () => {
        expect(await read("/.well-known/agent-card.json")).toMatchObject({
          securitySchemes: { names: { type: "http", scheme: "bearer" } },
          security: [{ names: [] }],
        });
      });

      it.each(everyOperation(dialectClient))("$operation", async ({ ask }) => {
        for (const token of [undefined, "mallory"]) {
          const outcome = await ask(caller(undefined, token === undefined ? {} : { token }), "x");
          expect([await refusalOf(outcome), outcome.http.status]).toEqual(["Unauthenticated", 401]);
          expect(outcome.http.headers.get("www-authenticate")).toMatch(/^Bearer /);
        }
      });

      it("requests with valid credentials are accepted", async () => {
        expect((await taskOf(caller("echo", { token: "alice" }).send(text("hi")))).id).toMatch(/./);
      });
    });

    it("0.3 MUST 16: the server authenticates to webhooks as configured", async () => {
      await using inbox = await openInbox();
      const alice = caller(undefined, { token: "alice" });
      const push = {
        url: inbox.url(),
        token: "t",
        authentication: { schemes: ["Basic", "Bearer"], credentials: "abc=" },
      };
      const { id } = await taskOf(alice.send(text(textToRun(async () => "done")), { wait: true, push }));
      const { headers, body } = await inbox.next();
      expect(headers).toMatchObject({ authorization: "Basic abc=", "x-a2a-notification-token": "t" });
      expect(dialectClient.readPushed(JSON.parse(body))).toMatchObject({ kind: "task", task: { id } });
      await accepted(alice.get(id));
    });

    it("0.3 MUST 18: signatures of a card have a protected header and a signature", async () => {
      const card = await read("/.well-known/agent-card.json");
      const { signatures } = card as { readonly signatures?: readonly object[] };
      for (const each of signatures ?? []) {
        expect(each).toMatchObject({
          protected: expect.stringMatching(/^[\w-]+$/),
          signature: expect.stringMatching(/^[\w-]+$/),
        });
      }
      const jwks = (await read("/.well-known/jwks.json")) as unknown as NonNullable<
        Parameters<typeof verifyCard>[1]["jwks"]
      >;
      expect(await verifyCard(card, { jwks })).toMatchObject({ json: { name: "actor" } });
    });
  },
  { ...GUARDED, signCards: true },
);
