import { describe, expect, it } from "vitest";
import { accepted, type Outcome, refusalOf, refused, taskOf, text } from "./dialect-client.ts";
import { DIALECT_CLIENTS } from "./dialect-clients.ts";
import { inEveryDialect } from "./every-dialect.ts";
import { exchange } from "./http.ts";
import { outputOf } from "./neutral.ts";
import { NEEDED, OFFERED } from "./test-server.ts";

inEveryDialect(DIALECT_CLIENTS, ({ dialectClient, caller, textToRun, url }) => {
  const { rules } = dialectClient;
  const active = ({ http }: Outcome<unknown>) => http.headers.get(rules.extensionsHeader);

  describe("extensions", () => {
    it("that are requested and offered are active, and the response lists them", async () => {
      const opening = textToRun(async () => "done");
      const mine = caller(undefined, { extensions: ["urn:unknown", OFFERED] });
      const sent = await mine.send(text(opening), { wait: true });
      expect(active(sent)).toBe(OFFERED);
      const streamed = await mine.stream(text(opening));
      expect(active(streamed)).toBe(OFFERED);
      await (await accepted(streamed)).rest();
      expect(active(await mine.get((await taskOf(sent)).id))).toBe(OFFERED);
    });

    it("are inactive unless requested, and another version is another extension", async () => {
      const opening = textToRun(async () => "done");
      expect(active(await caller().send(text(opening), { wait: true }))).toBeNull();
      const other = OFFERED.replace("/v1", "/v2");
      expect(active(await caller(undefined, { extensions: [other] }).send(text(opening)))).toBeNull();
    });

    it("that are required but not requested cause an error, and no agent code runs", async () => {
      for (const extensions of [[], [OFFERED], [NEEDED.replace("/v2", "/v1")]]) {
        const refusal = await refused(caller("needy", { extensions }).send(text("hi"), { wait: true }));
        expect(refusal.name).toBe(rules.requiredExtension);
        expect(JSON.stringify([refusal.facts, refusal.message])).toContain(NEEDED);
      }
      expect(await refusalOf(caller("needy").stream(text("hi")))).toBe(rules.requiredExtension);
      const sent = await caller("needy", { extensions: [OFFERED, NEEDED] }).send(text("hi"), { wait: true });
      expect(outputOf(await taskOf(sent))).toBe("hi");
      expect(active(sent)?.split(/, ?/).toSorted()).toEqual([NEEDED, OFFERED].toSorted());
    });

    it("of a message are stored with it if the version defines them", async () => {
      const messageInput = { ...text("hi"), extensions: [OFFERED] };
      const task = await taskOf(caller("echo").send(messageInput, { wait: true, history: rules.wholeHistory }));
      expect(task.history).toHaveLength(1);
      expect(task.history?.[0]?.extensions).toEqual(rules.listsExtensions ? [OFFERED] : undefined);
    });
  });

  describe("agents of one server", () => {
    it("each have their own address, the first one also the root", async () => {
      const { id } = await taskOf(caller().send(text(textToRun(async () => "done")), { wait: true }));
      expect((await accepted(caller("actor").get(id))).id).toBe(id);
      expect(await refusalOf(caller("echo").get(id))).toBe("TaskNotFound");
      expect(outputOf(await taskOf(caller("echo").send(text("hi"), { wait: true })))).toBe("hi");
    });

    it("do not answer for a missing agent", async () => {
      const answer = await exchange({
        method: "POST",
        url: `${url()}/agents/nobody/message:send`,
        headers: { "content-type": "application/json" },
        body: "{}",
      });
      expect(answer.status).toBe(404);
      expect(() => JSON.parse(answer.text)).not.toThrow();
    });
  });

  describe("unknown members", () => {
    it("are ignored at every level of a request", async () => {
      const alter = (body: object): object => {
        const { message, ...rest } = body as {
          readonly message: { readonly parts?: object[]; readonly content?: object[] };
        };
        const parts = message.parts ?? message.content ?? [];
        const odd = { surprise: { deep: [1] } };
        const strange = parts.map((part) => ({ ...part, ...odd }));
        return {
          ...rest,
          ...odd,
          message: { ...message, ...odd, [message.parts === undefined ? "content" : "parts"]: strange },
          configuration: { ...odd, ...("configuration" in rest ? (rest.configuration as object) : {}) },
        };
      };
      const task = await taskOf(caller("echo", { alter }).send(text("hi"), { wait: true }));
      expect(task.artifacts?.[0]?.parts).toEqual([{ text: "hi" }]);
      expect(JSON.stringify(task)).not.toContain("surprise");
    });
  });
});

inEveryDialect(
  DIALECT_CLIENTS.filter(({ rules }) => rules.undeclaredExtendedCard !== undefined),
  ({ dialectClient, caller }) => {
    describe("an extended card", () => {
      it("requires authentication", async () => {
        const card = await accepted(caller("discreet", { token: "alice" }).extendedCard());
        expect(card).toMatchObject({ name: "discreet", description: "Shows all of what it can do." });
        expect(JSON.stringify(card)).toContain('"secret"');
        const outcome = await caller("discreet").extendedCard();
        expect(await refusalOf(outcome)).toBe("Unauthenticated");
        expect(outcome.http.headers.get("www-authenticate")).toBeTruthy();
      });

      it("is refused if there is none, or none for this caller", async () => {
        expect(await refusalOf(caller("echo", { token: "alice" }).extendedCard())).toBe(
          dialectClient.rules.undeclaredExtendedCard,
        );
        expect(await refusalOf(caller("tactful", { token: "alice" }).extendedCard())).toBe(
          dialectClient.rules.deniedExtendedCard ?? "ExtendedCardNotConfigured",
        );
      });
    });
  },
);

inEveryDialect(
  DIALECT_CLIENTS.filter(({ rules }) => rules.snakeCase),
  ({ dialectClient, caller, textToRun }) => {
    it("snake_case names are accepted as well, except inside the caller's own data", async () => {
      let seen: unknown;
      const opening = textToRun(async ({ message, metadata, outputModes }) => {
        seen = { of: message.metadata, with: metadata, outputModes, reference: message.referenceTaskIds };
      });
      const first = await taskOf(caller("echo").send(text("hi"), { wait: true }));
      const metadata = { camelCase: { keptAsIs: 1 } };
      const messageInput = { ...text(opening), contextId: first.contextId, referenceTaskIds: ["x"], metadata };
      const task = await taskOf(
        caller(undefined, { alter: snakeCase }).send(messageInput, {
          wait: true,
          history: 1,
          outputModes: ["text/plain"],
          metadata,
        }),
      );
      expect(task.contextId).toBe(first.contextId);
      expect(task.history).toHaveLength(1);
      expect(seen).toEqual({
        of: metadata,
        with: metadata,
        outputModes: ["text/plain"],
        reference: dialectClient.rules.referenceTaskIds ? ["x"] : undefined,
      });
      const file = { raw: "aGk=", mediaType: "text/plain", filename: "hi.txt" };
      const files = await taskOf(caller("echo", { alter: snakeCase }).send({ parts: [file] }, { wait: true }));
      expect(files.artifacts?.[0]?.parts).toEqual([file]);
    });
  },
);

/** Converts every member name to snake_case, except inside free-form objects. */
function snakeCase(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(snakeCase);
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, content]) => [
      name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`),
      name === "metadata" || name === "data" ? (content as unknown) : snakeCase(content),
    ]),
  );
}
