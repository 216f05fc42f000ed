import { type } from "arktype";
import * as v from "valibot";
import { describe, expect, expectTypeOf, test } from "vitest";
import { z } from "zod";
import { type Agent, type RunResult, skill, type TaskContext } from "../../src/engine/agent/agent.ts";
import { agent } from "../../src/platform/agents/agent.ts";
import type { JsonValue } from "../../src/protocol/json.ts";
import type { Message } from "../../src/protocol/message.ts";

// Checked by the compiler only: `uses` never calls its argument.
function uses(_body: (task: TaskContext) => unknown): void {}

/** The type of `task.data` in a skill's handler. */
type DataOf<Of extends { run?(task: never): unknown }> = Parameters<NonNullable<Of["run"]>>[0]["data"];

const identity = { name: "n", description: "d", version: "1" };
const card = { id: "s", name: "n", description: "d", tags: [] };

describe("task.ask", () => {
  test("returns the text without a schema", () => {
    uses((task) => {
      expectTypeOf(task.ask("Who?")).toEqualTypeOf<Promise<string>>();
      expectTypeOf(task.ask("Who?", {})).toEqualTypeOf<Promise<string>>();
      expectTypeOf(task.ask([{ text: "Who?" }], { timeout: 5 })).toEqualTypeOf<Promise<string>>();
    });
  });

  test("returns the output type of a schema of any library", () => {
    uses((task) => {
      expectTypeOf(task.ask("Book?", { schema: z.object({ book: z.boolean() }) })).toEqualTypeOf<
        Promise<{ book: boolean }>
      >();
      expectTypeOf(task.ask("Book?", { schema: v.object({ book: v.boolean() }) })).toEqualTypeOf<
        Promise<{ book: boolean }>
      >();
      expectTypeOf(task.ask("Book?", { schema: type({ book: "boolean" }) })).toEqualTypeOf<
        Promise<{ book: boolean }>
      >();
      expectTypeOf(task.ask("Which?", { schema: z.enum(["a", "b"]) })).toEqualTypeOf<Promise<"a" | "b">>();
    });
  });

  test("returns the schema's output type, not its input type", () => {
    uses((task) => {
      const schema = z.string().transform((text) => new Date(text));
      expectTypeOf(task.ask("When?", { schema })).toEqualTypeOf<Promise<Date>>();
    });
  });

  test("may return undefined only if it continues without an answer", () => {
    uses((task) => {
      const schema = z.number();
      expectTypeOf(task.ask("How many?", { schema, timeout: 5, onTimeout: "continue" })).toEqualTypeOf<
        Promise<number | undefined>
      >();
      expectTypeOf(task.ask("How many?", { timeout: 5, onTimeout: "continue" })).toEqualTypeOf<
        Promise<string | undefined>
      >();
      expectTypeOf(task.ask("How many?", { schema, timeout: 5, onTimeout: "fail" })).toEqualTypeOf<Promise<number>>();
    });
  });

  test("refuses an object that is not a schema", () => {
    uses((task) => {
      // @ts-expect-error: not a Standard Schema
      void task.ask("Who?", { schema: { type: "string" } });
      // @ts-expect-error: neither text nor part
      void task.ask({ city: "Oslo" });
      expectTypeOf<{ city: string }>().not.toExtend<Parameters<typeof task.ask>[0]>();
    });
  });
});

describe("skill", () => {
  test("passes its handler the type of a schema of any library", () => {
    const byZod = skill({
      ...card,
      input: z.object({ city: z.string(), days: z.coerce.number() }),
      run: async (task) => task.data.days.toFixed(),
    });
    const byValibot = skill({
      ...card,
      input: v.object({ city: v.string() }),
      run: async (task) => task.data.city.trim(),
    });
    const byArkType = skill({ ...card, input: type({ city: "string" }), run: async (task) => task.data.city.trim() });
    expectTypeOf<DataOf<typeof byZod>>().toEqualTypeOf<{ city: string; days: number }>();
    expectTypeOf<DataOf<typeof byValibot>>().toEqualTypeOf<{ city: string }>();
    expectTypeOf<DataOf<typeof byArkType>>().toEqualTypeOf<{ city: string }>();
  });

  test("without a schema has any JSON or undefined as data", () => {
    const bare = skill({ ...card, run: async (task) => task.data ?? "none" });
    expectTypeOf<DataOf<typeof bare>>().toEqualTypeOf<JsonValue | undefined>();
  });

  test("with a schema can be listed with other skills", () => {
    const typed = skill({ ...card, input: z.object({ city: z.string() }), run: async ({ data }) => data.city });
    const other = skill({ ...card, id: "other", run: async ({ text }) => text });
    expectTypeOf(agent({ ...identity, skills: [typed, other] })).toEqualTypeOf<Agent>();
  });
});

describe("run", () => {
  test("may be an async function that returns text, parts, files, JSON or nothing", () => {
    agent({ ...identity, run: async () => "text" });
    agent({ ...identity, run: async () => ({ text: "part" }) });
    agent({ ...identity, run: async () => [{ text: "part" }, { data: 1 }] });
    agent({ ...identity, run: async () => ({ file: { bytes: new Uint8Array(1), name: "a" } }) });
    agent({ ...identity, run: async () => ({ city: "Oslo", days: [1, 2] }) });
    agent({ ...identity, run: async () => {} });
    // @ts-expect-error: JSON has no functions
    agent({ ...identity, run: async () => ({ city: () => "Oslo" }) });
    // @ts-expect-error: not asynchronous
    agent({ ...identity, run: () => "text" });
    expectTypeOf<Promise<string | undefined>>().toExtend<RunResult>();
  });

  test("may return objects of an interface type", () => {
    interface Trip {
      readonly city: string;
      readonly legs: readonly { readonly from: string }[];
    }
    const trip: Trip = { city: "Oslo", legs: [] };
    agent({ ...identity, run: async () => trip });
    agent({
      ...identity,
      async *run() {
        yield "text";
        yield trip;
      },
    });
    interface Clock {
      readonly at: Date;
    }
    // @ts-expect-error: JSON writes a Date as a text
    agent({ ...identity, run: async (): Promise<Clock> => ({ at: new Date() }) });
  });

  test("is required unless skills or reply() answer", () => {
    // @ts-expect-error: nothing answers
    expect(() => agent(identity)).toThrow(/run/);
    agent({ ...identity, reply: () => "Hello" });
    agent({ ...agent({ ...identity, run: async () => "text" }), name: "Another" });
    agent({ ...identity, skills: [skill({ ...card, run: async () => "text" })] });
  });

  test("sends files as bytes, not as text", () => {
    // @ts-expect-error: bytes are a Uint8Array
    agent({ ...identity, run: async () => ({ file: { bytes: "text" } }) });
    agent({
      ...identity,
      // @ts-expect-error: the same in a generator
      async *run(task) {
        yield { file: { bytes: task.text } };
      },
    });
  });

  test("may be an async generator, whose return type is void", () => {
    agent({
      ...identity,
      async *run(task) {
        expectTypeOf(task).toEqualTypeOf<TaskContext>();
        yield "text";
        yield { data: 1 };
        if (task.text === "") return;
        yield [1, 2];
      },
    });
    agent({
      ...identity,
      // @ts-expect-error: what a generator returns would be lost
      async *run() {
        yield "text";
        return "lost";
      },
    });
    async function* losing() {
      yield "text";
      return 5;
    }
    // @ts-expect-error: the same, declared elsewhere
    expectTypeOf(losing).toExtend<(task: TaskContext) => RunResult>();
  });

  test("may return an async iterable or an Observable", () => {
    expectTypeOf<AsyncIterable<string>>().toExtend<RunResult>();
    expectTypeOf<Promise<AsyncIterable<{ text: string }, void>>>().toExtend<RunResult>();
    expectTypeOf<import("rxjs").Observable<string>>().toExtend<RunResult>();
  });
});

describe("a declaration", () => {
  test("accepts every kind of security scheme, and requires the members of each", () => {
    const declare = (): Agent =>
      agent({
        ...identity,
        run: async () => "",
        securitySchemes: {
          key: { type: "apiKey", in: "header", name: "X-Key" },
          // @ts-expect-error: a scheme of HTTP has a name
          bearer: { type: "http" },
        },
        security: [{ key: [] }],
      });
    expectTypeOf(declare).returns.toEqualTypeOf<Agent>();
  });

  test("may create its extended card per caller", () => {
    const extended = { ...identity, run: async () => "" };
    agent({ ...extended, extendedCard: { description: "More." } });
    agent({ ...extended, extendedCard: ({ id }) => (id === "ada" ? { name: "More" } : undefined) });
    agent({ ...extended, extendedCard: async () => undefined });
    // @ts-expect-error: how it is run is not for a card to say
    agent({ ...extended, extendedCard: { timeout: 5 } });
  });

  test("may be created from a card of any version", () => {
    const card = {
      name: "A",
      securitySchemes: { key: { type: "http", scheme: "bearer" } },
      preferredTransport: "JSONRPC",
    };
    const run = async (): Promise<string> => "";
    expectTypeOf(() => agent({ card, run })).returns.toEqualTypeOf<Agent>();
    const newer = { card: { securitySchemes: { tls: { mtlsSecurityScheme: {} } }, securityRequirements: [{}] }, run };
    expectTypeOf(() => agent(newer)).returns.toEqualTypeOf<Agent>();
  });
});

describe("task", () => {
  test("reject returns never, so that `return task.reject()` narrows types and fits any run", () => {
    uses((task) => {
      expectTypeOf<ReturnType<typeof task.reject>>().toBeNever();
    });
    agent({
      ...identity,
      async *run(task) {
        const found = task.data;
        if (found === undefined) return task.reject("Nothing found.");
        expectTypeOf(found).toEqualTypeOf<JsonValue>();
        yield found;
      },
    });
  });

  test("reject narrows types without return if the task's type is declared", () => {
    uses((task: TaskContext) => {
      const found = task.data;
      if (found === undefined) task.reject("Nothing found.");
      expectTypeOf(found).toEqualTypeOf<JsonValue>();
    });
  });

  test("next returns undefined only if it does not wait", () => {
    uses((task) => {
      expectTypeOf(task.next()).toEqualTypeOf<Promise<Message>>();
      expectTypeOf(task.next({})).toEqualTypeOf<Promise<Message>>();
      expectTypeOf(task.next({ wait: true })).toEqualTypeOf<Promise<Message>>();
      expectTypeOf(task.next({ wait: false })).toEqualTypeOf<Promise<Message | undefined>>();
    });
  });

  test("step refuses values that JSON would change, and accepts interfaces", () => {
    interface Tree {
      readonly children: readonly Tree[];
    }
    uses((task) => {
      // @ts-expect-error: JSON writes a Date as a text
      void task.step("a", () => new Date());
      // @ts-expect-error: JSON writes a Map as an empty object
      void task.step("a", async () => ({ seen: new Map<string, number>() }));
      // @ts-expect-error: JSON has no functions
      void task.step("a", () => ({ again: () => 1 }));
      // @ts-expect-error: JSON has no bigints
      void task.step("a", async () => 1n);
      expectTypeOf(task.step("a", async (): Promise<Tree> => ({ children: [] }))).toEqualTypeOf<Promise<Tree>>();
      expectTypeOf(task.step("a", async (): Promise<unknown> => 1)).toEqualTypeOf<Promise<unknown>>();
      expectTypeOf(task.step("a", async () => {})).toEqualTypeOf<Promise<void>>();
    });
  });

  test("step returns the result of its work", () => {
    uses((task) => {
      expectTypeOf(task.step("a", () => 1)).toEqualTypeOf<Promise<number>>();
      expectTypeOf(task.step("a", async ({ key }) => ({ key }))).toEqualTypeOf<Promise<{ key: string }>>();
    });
  });
});
