import { describe, expect, test } from "vitest";
import { z } from "zod";
import type { MessageId } from "../../protocol/ids.ts";
import type { JsonObject } from "../../protocol/json.ts";
import type { Message } from "../../protocol/message.ts";
import type { Part } from "../../protocol/part.ts";
import { ANONYMOUS } from "../../protocol/principal.ts";
import { type Agent, type AgentDefinition, agent, type ReplyCall, type Skill } from "../agent/agent.ts";
import { type Routed, routeMessage } from "./route.ts";

const run = async () => "done";
const planInput = z.object({ city: z.string(), days: z.coerce.number() });
const bookInput = z.object({ hotel: z.string() });

const plan: Skill = { id: "plan", name: "Plan a trip", description: "d", tags: [], input: planInput, run };
const book: Skill = { id: "book", name: "Book a room", description: "d", tags: [], input: bookInput, run };
const chat: Skill = { id: "chat", name: "Chat", description: "d", tags: [], run };
const listed: Skill = { id: "listed", name: "Only on the card", description: "d", tags: [] };

function make(definition: Partial<AgentDefinition>): Agent {
  return agent({ id: "trips", name: "Trips", description: "d", version: "1", ...definition });
}

async function route(
  of: Agent,
  parts: Part | Part[],
  metadata: { message?: JsonObject; request?: JsonObject } = {},
): Promise<Routed> {
  const message: Message = {
    messageId: "m" as MessageId,
    role: "user",
    parts: Array.isArray(parts) ? parts : [parts],
    ...(metadata.message !== undefined && { metadata: metadata.message }),
  };
  const call: ReplyCall = {
    caller: ANONYMOUS,
    tenant: "",
    metadata: metadata.request ?? {},
    outputModes: [],
    extensions: [],
    callPath: [],
    signal: new AbortController().signal,
  };
  return routeMessage(of, { message, metadata: call.metadata }, () => call);
}

function reasonOf(routed: Routed): string {
  if (routed.kind !== "none") throw new Error(`routed to ${routed.kind}`);
  return routed.reason;
}

describe("routeMessage", () => {
  test("an agent without skills handles every message, whatever its metadata", async () => {
    expect(await route(make({ run }), { text: "hi" })).toEqual({ kind: "agent" });
    expect(await route(make({ run }), { text: "hi" }, { message: { skillId: "x" } })).toEqual({ kind: "agent" });
  });

  test("without a handler or schema in any skill, the agent's run handles every message", async () => {
    expect(await route(make({ run, skills: [listed] }), { data: { city: "Oslo" } })).toEqual({ kind: "agent" });
  });

  test.each([
    ["the message", { message: { skillId: "book" } }],
    ["the request", { request: { skillId: "book" } }],
    ["both, the message winning", { message: { skillId: "book" }, request: { skillId: "plan" } }],
  ])("the skillId in the metadata of %s selects the skill", async (_name, metadata) => {
    const routed = await route(make({ run, skills: [plan, book] }), { data: { hotel: "Grand" } }, metadata);
    expect(routed).toEqual({ kind: "skill", skill: book, data: { hotel: "Grand" } });
  });

  test("a skillId selects a skill without its own handler; the agent's run handles it", async () => {
    const routed = await route(make({ run, skills: [listed] }), { data: 1 }, { message: { skillId: "listed" } });
    expect(routed).toEqual({ kind: "skill", skill: listed, data: 1 });
  });

  test("a skill selected by skillId whose schema accepts a string gets the text", async () => {
    const say: Skill = { ...chat, id: "say", input: z.string().min(2) };
    const routed = await route(make({ skills: [say] }), { text: "hello" }, { message: { skillId: "say" } });
    expect(routed).toMatchObject({ kind: "skill", data: "hello" });
  });

  test("an unknown skillId is refused with the list of skills", async () => {
    const reason = reasonOf(
      await route(make({ run, skills: [plan, book] }), { text: "hi" }, { message: { skillId: "fly" } }),
    );
    expect(reason).toBe('Unknown skill "fly"; the agent has "plan", "book".');
  });

  test.each<[string, JsonObject[string]]>([
    ["a number", 5],
    ["an object", { id: "plan" }],
    ["a name every object has", "constructor"],
  ])("a skillId that is %s is refused as unknown", async (_name, skillId) => {
    expect((await route(make({ run, skills: [plan] }), { text: "hi" }, { message: { skillId } })).kind).toBe("none");
  });

  test("a skillId of null is ignored", async () => {
    const metadata = { message: { skillId: null }, request: { skillId: null } };
    expect(await route(make({ run, skills: [plan] }), { text: "hi" }, metadata)).toEqual({ kind: "agent" });
  });

  test("an unknown skillId of one megabyte is shortened in the reason", async () => {
    const skillId = "x".repeat(1_000_000);
    expect(
      reasonOf(await route(make({ run, skills: [plan] }), { text: "a" }, { message: { skillId } })).length,
    ).toBeLessThan(300);
  });

  test("a message that the selected skill's schema refuses names the invalid field", async () => {
    const routed = await route(
      make({ run, skills: [plan] }),
      { data: { city: 5, days: 1 } },
      { message: { skillId: "plan" } },
    );
    expect(reasonOf(routed)).toMatch(/^Skill "plan" does not accept this message: city: .*string/);
  });

  test.each<[string, Part]>([
    ["data", { data: { city: "Oslo", days: "2" } }],
    ["JSON text", { text: '{"city":"Oslo","days":"2"}' }],
  ])("the only skill whose schema accepts the %s gets the validated data", async (_name, part) => {
    const routed = await route(make({ run, skills: [book, plan, chat] }), part);
    expect(routed).toEqual({ kind: "skill", skill: plan, data: { city: "Oslo", days: 2 } });
  });

  test("null is valid data", async () => {
    const none: Skill = { ...chat, id: "none", input: z.null() };
    expect(await route(make({ run, skills: [none] }), [{ data: null }, { text: "{}" }])).toMatchObject({
      kind: "skill",
      data: null,
    });
  });

  test("a schema that throws accepts nothing", async () => {
    const broken: Skill = {
      ...chat,
      input: {
        "~standard": {
          version: 1,
          vendor: "x",
          validate: () => {
            throw new Error("secret");
          },
        },
      },
    };
    expect(await route(make({ skills: [broken, plan] }), { data: { city: "Oslo", days: 1 } })).toMatchObject({
      skill: plan,
    });
    expect(reasonOf(await route(make({ skills: [broken, plan] }), { data: 1 }))).not.toContain("secret");
  });

  test("the agent's route decides if the schemas do not", async () => {
    const seen: unknown[] = [];
    const routed = await route(
      make({
        skills: [plan, chat],
        route(message, call) {
          seen.push(message.parts, call.metadata);
          return Promise.resolve("chat");
        },
      }),
      { text: "hello" },
      { request: { a: 1 } },
    );
    expect(routed).toMatchObject({ kind: "skill", skill: chat });
    expect(seen).toEqual([[{ text: "hello" }], { a: 1 }]);
  });

  test("the agent's route is not called if a schema decides", async () => {
    const asked = make({
      skills: [plan, chat],
      route: () => {
        throw new Error("asked");
      },
    });
    expect(await route(asked, { data: { city: "Oslo", days: 1 } })).toMatchObject({ skill: plan });
  });

  test("a route that throws, or returns an unknown skill, rejects", async () => {
    await expect(route(make({ run, skills: [plan], route: () => "fly" }), { text: "a" })).rejects.toThrow('"fly"');
    const failing = make({ run, skills: [plan], route: () => Promise.reject(new Error("down")) });
    await expect(route(failing, { text: "a" })).rejects.toThrow("down");
  });

  test("the schema of the skill that route returns must accept the message", async () => {
    const routed = await route(make({ run, skills: [plan], route: () => "plan" }), { text: "hello" });
    expect(reasonOf(routed)).toContain('Skill "plan" does not accept this message');
  });

  test("a message that no skill accepts goes to the agent's run", async () => {
    const silent = make({ run, skills: [plan, book], route: () => undefined });
    expect(await route(silent, { text: "hello" })).toEqual({ kind: "agent" });
  });

  test("without a run of the agent, other messages go to the only skill without a schema", async () => {
    expect(await route(make({ skills: [plan, chat] }), { text: "hello" })).toMatchObject({
      kind: "skill",
      skill: chat,
    });
  });

  test("a message that no skill accepts is refused with the expectation of each skill", async () => {
    const reason = reasonOf(
      await route(make({ skills: [plan, book, chat, { ...chat, id: "chat2" }] }), { data: { city: "Oslo" } }),
    );
    expect(reason).toMatch(/"plan" \(Plan a trip\) expects data that fits its schema \(days: /);
    expect(reason).toMatch(/"book" \(Book a room\) expects data that fits its schema \(hotel: /);
    expect(reason).toMatch(/"chat" \(Chat\) accepts any message that names it/);
    expect(reason).toContain("skillId");
  });

  test("text for skills that expect data is refused with that reason", async () => {
    expect(reasonOf(await route(make({ skills: [plan, book] }), { text: "hello" }))).toMatch(
      /"plan" .*carries no data and its text is not JSON/,
    );
  });

  test("a message that several skills accept is refused with their ids", async () => {
    const second: Skill = { ...plan, id: "plan2" };
    const reason = reasonOf(await route(make({ skills: [plan, book, second] }), { data: { city: "Oslo", days: 1 } }));
    expect(reason).toContain('Several skills accept this message: "plan", "plan2".');
  });

  test("an agent with reply only accepts no tasks", async () => {
    const replying = { reply: () => "hi" };
    expect((await route(make(replying), { text: "a" })).kind).toBe("none");
    expect(
      (await route(make({ ...replying, skills: [listed] }), { text: "a" }, { message: { skillId: "listed" } })).kind,
    ).toBe("none");
    expect((await route(make({ ...replying, skills: [{ ...listed, input: z.any() }] }), { data: 1 })).kind).toBe(
      "none",
    );
  });
});
