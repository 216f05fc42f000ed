import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { Artifact } from "../../protocol/artifact.ts";
import type { ArtifactEvent, TaskEvent } from "../../protocol/event.ts";
import { ArtifactFold } from "../../protocol/fold.ts";
import type { ArtifactId, ContextId, TaskId } from "../../protocol/ids.ts";
import { type Part, textOf } from "../../protocol/part.ts";
import type { Task } from "../../protocol/task.ts";
import type { RemoteStreamEvent } from "../api.ts";
import type { DigestRecord } from "./artifact-digests.ts";
import type { ArtifactMemoryOptions } from "./artifact-memory.ts";
import { TaskView } from "./task-view.ts";

const PLACE = { taskId: "t" as TaskId, contextId: "c" as ContextId };
const TIME = "2030-01-01T00:00:00.000Z";
const BEGINNING: Task = { id: PLACE.taskId, contextId: PLACE.contextId, status: { state: "working", timestamp: TIME } };

const part = fc.oneof(
  fc.string({ maxLength: 3 }).map((text) => ({ text })),
  fc.record({ data: fc.record({ n: fc.nat(9) }) }),
  fc.record({ url: fc.constant("https://example.com/x"), filename: fc.constantFrom("a", "b") }),
);
const artifactEvent: fc.Arbitrary<ArtifactEvent> = fc.record({
  kind: fc.constant("artifact" as const),
  artifact: fc.record(
    {
      artifactId: fc.constantFrom("a", "b", "c").map((id) => id as ArtifactId),
      name: fc.constantFrom("x", "y"),
      parts: fc.array(part, { minLength: 1, maxLength: 3 }),
    },
    { requiredKeys: ["artifactId", "parts"] },
  ),
  append: fc.boolean(),
  lastChunk: fc.boolean(),
});

function folded(events: readonly TaskEvent[]): Task {
  const fold = new ArtifactFold();
  for (const event of events) fold.add(event);
  return { ...BEGINNING, artifacts: fold.artifacts() };
}

/** The parts with adjacent texts joined: appended text need not be a part of its own. */
function joined({ parts }: Artifact): readonly unknown[] {
  const all: unknown[] = [];
  let text: string | undefined;
  for (const one of [...parts, undefined]) {
    if (one?.text !== undefined) {
      text = (text ?? "") + one.text;
      continue;
    }
    if (text !== undefined) all.push(text);
    text = undefined;
    if (one !== undefined) all.push(one);
  }
  return all;
}

/** The ways to keep artifacts: with content, without content, and with content up to a limit. */
const MEMORIES: readonly [string, ArtifactMemoryOptions][] = [
  ["their content", {}],
  ["their digests", { result: "none" }],
  ["their content up to 1500 bytes", { maxBytes: 1500 }],
];

describe("A task view", () => {
  it("has after each event the task of all events so far, also if it is read later", () => {
    fc.assert(
      fc.property(fc.array(artifactEvent, { maxLength: 12 }), (events) => {
        const view = new TaskView();
        view.begin({ ...BEGINNING, artifacts: [] });
        const added = events.map((event) => view.add(event, PLACE));
        // Read each event only after all were added.
        for (const [index, event] of added.entries()) {
          expect(event).toMatchObject({ task: folded(events.slice(0, index + 1)) });
        }
        expect(view.task).toEqual(folded(events));
      }),
    );
  });

  it.each(MEMORIES)(
    "that keeps %s catches up with a snapshot by events that lead to it, and by none if nothing is missing",
    (_what, options) => {
      fc.assert(
        fc.property(fc.array(artifactEvent, { maxLength: 10 }), fc.nat(10), (events, seen) => {
          const now: Task = { ...folded(events), status: { state: "completed", timestamp: TIME } };
          const view = new TaskView(options);
          view.begin({ ...BEGINNING, artifacts: [] });
          const fold = new ArtifactFold();
          for (const event of events.slice(0, seen)) {
            fold.add(event);
            view.add(event, PLACE);
          }
          for (const event of view.catchUp(now)) if (event.kind === "artifact") fold.add(event);
          // Digests do not count empty texts.
          const content = (artifact: Artifact): readonly unknown[] =>
            joined(artifact).filter(
              (one) => (options.result === undefined && options.maxBytes === undefined) || one !== "",
            );
          expect(fold.artifacts().map(content)).toEqual(now.artifacts?.map(content));
          expect(view.catchUp(now)).toEqual([]);
        }),
      );
    },
  );

  it.each(MEMORIES)("that keeps %s finds nothing new in a snapshot with one part per chunk", (_what, options) => {
    fc.assert(
      fc.property(
        fc.array(fc.array(part, { minLength: 1, maxLength: 3 }), { minLength: 1, maxLength: 8 }),
        (chunks) => {
          const view = new TaskView(options);
          view.begin({ ...BEGINNING, artifacts: [] });
          for (const parts of chunks) {
            const artifact = { artifactId: "a" as ArtifactId, parts };
            view.add({ kind: "artifact", artifact, append: true, lastChunk: false }, PLACE);
          }
          const artifacts = [{ artifactId: "a" as ArtifactId, parts: chunks.flat() }];
          expect(view.catchUp({ ...BEGINNING, artifacts })).toEqual([]);
          const more = [{ artifactId: "a" as ArtifactId, parts: [...chunks.flat(), { text: "m" }, { text: "ore" }] }];
          const events = view.catchUp({ ...BEGINNING, artifacts: more });
          expect(events).toMatchObject([{ append: true }]);
          expect(events.map((event) => (event.kind === "artifact" ? textOf(event.artifact.parts) : ""))).toEqual([
            "more",
          ]);
        },
      ),
    );
  });

  it("finds appended text after another part, whether the snapshot has chunks or the joined text", () => {
    for (const texts of [[{ text: "b" }, { text: "c" }, { text: "d" }], [{ text: "bcd" }]]) {
      const view = new TaskView();
      const artifactId = "a" as ArtifactId;
      view.begin({ ...BEGINNING, artifacts: [{ artifactId, parts: [{ data: 1 }, { text: "b" }, { text: "c" }] }] });
      const events = view.catchUp({
        ...BEGINNING,
        artifacts: [{ artifactId, parts: [{ data: 1 }, ...texts, { data: 2 }] }],
      });
      expect(events).toMatchObject([{ append: true, artifact: { parts: [{ text: "d" }, { data: 2 }] } }]);
    }
  });

  it("reads each part a bounded number of times, even if the task is read after every event", () => {
    const view = new TaskView();
    view.begin(BEGINNING);
    let reads = 0;
    for (let count = 1; count <= 200; count++) {
      const counted: Part = {
        get text() {
          reads++;
          return "ab";
        },
      };
      const artifact = { artifactId: "a" as ArtifactId, parts: [counted] };
      const event = view.add({ kind: "artifact", artifact, append: true, lastChunk: false }, PLACE);
      expect(event).toMatchObject({ task: { artifacts: [{ parts: [{ text: "ab".repeat(count) }] }] } });
    }
    expect(reads).toBeLessThan(200 * 20);
  });

  it.each<[string, ArtifactMemoryOptions]>([
    ["all", {}],
    ["none", { result: "none" }],
  ])("ignores an older snapshot while the task is working, with result %s", (result, options) => {
    const view = new TaskView(options);
    const artifactId = "a" as ArtifactId;
    const later = { state: "working", timestamp: "2030-01-01T00:00:09.000Z" } as const;
    view.begin({
      ...BEGINNING,
      status: later,
      artifacts: [{ artifactId, parts: [{ text: "one " }, { text: "two " }] }],
    });
    const before: Task = { ...BEGINNING, artifacts: [{ artifactId, parts: [{ text: "one " }] }] };
    expect(view.catchUp(before)).toEqual([]);
    const end: Task = { ...before, status: { state: "failed", timestamp: TIME } };
    expect(view.catchUp(end).map(({ kind }) => kind)).toEqual(["artifact", "status"]);
    expect(view.task).toEqual(result === "all" ? end : { ...end, artifacts: undefined });
    expect(view.catchUp(before)).toEqual([]);
  });

  it("drops artifacts that are too large, fails when they are read, and continues its events", () => {
    const view = new TaskView({ maxBytes: 5000 });
    const add = (text: string): RemoteStreamEvent => {
      const artifact = { artifactId: "a" as ArtifactId, parts: [{ text }] };
      return view.add({ kind: "artifact", artifact, append: true, lastChunk: false }, PLACE);
    };
    view.begin(BEGINNING);
    const small = add("x");
    const large = add("y".repeat(5000));
    expect(small).toMatchObject({ task: { artifacts: [{ parts: [{ text: "x" }] }] } });
    expect(() => ("task" in large ? large.task : undefined)).toThrow(/maxResultBytes/);
    expect(() => view.task).toThrow(expect.objectContaining({ code: "result-too-large", taskId: "t" }));
    expect(view.known).toEqual(BEGINNING);
    const now = {
      ...BEGINNING,
      artifacts: [{ artifactId: "a" as ArtifactId, parts: [{ text: `x${"y".repeat(5000)}z` }] }],
    };
    expect(view.catchUp(now)).toMatchObject([{ append: true, artifact: { parts: [{ text: "z" }] } }]);
  });

  it("does not keep replaced versions of an artifact", () => {
    const view = new TaskView({ maxBytes: 10_000 });
    view.begin(BEGINNING);
    for (let index = 0; index < 1000; index++) {
      const artifact = { artifactId: "a" as ArtifactId, parts: [{ text: String(index).repeat(1000) }] };
      view.add({ kind: "artifact", artifact, append: false, lastChunk: false }, PLACE);
    }
    expect(view.task?.artifacts).toMatchObject([{ parts: [{ text: "999".repeat(1000) }] }]);
  });

  it("cannot compare more than 100 000 artifacts that it does not keep", () => {
    const view = new TaskView({ result: "none" });
    const artifacts = Array.from({ length: 100_001 }, (_, index) => ({
      artifactId: `${index}` as ArtifactId,
      parts: [],
    }));
    view.begin({ ...BEGINNING, artifacts });
    expect(() => view.catchUp({ ...BEGINNING, artifacts })).toThrow(expect.objectContaining({ code: "stream-lost" }));
  });

  it("continues from the digests of an earlier view", () => {
    const before = new TaskView({ result: "none" });
    const artifactId = "a" as ArtifactId;
    const data = { data: { b: 1, a: [true, null] } };
    before.begin({ ...BEGINNING, artifacts: [{ artifactId, parts: [{ text: "one " }, data] }] });
    const digests: unknown = JSON.parse(JSON.stringify(before.digests));
    const view = new TaskView({ result: "none" });
    view.begin(BEGINNING, digests as DigestRecord);
    const same = { data: { a: [true, null], b: 1 } };
    const now = (...parts: Part[]): Task => ({ ...BEGINNING, artifacts: [{ artifactId, parts }] });
    expect(view.catchUp(now({ text: "one " }, same))).toEqual([]);
    expect(view.catchUp(now({ text: "one " }, same, { text: "two" }))).toMatchObject([
      { append: true, artifact: { parts: [{ text: "two" }] } },
    ]);
    expect(
      view.catchUp(now({ text: "one " }, { data: "something else than before" }, { text: "and more" })),
    ).toMatchObject([{ append: false }]);
  });

  it("recognises appended text, also if the snapshot joined the earlier parts", () => {
    const view = new TaskView();
    const artifactId = "a" as ArtifactId;
    view.begin({ ...BEGINNING, artifacts: [{ artifactId, parts: [{ text: "one " }, { text: "two " }] }] });
    const events = view.catchUp({ ...BEGINNING, artifacts: [{ artifactId, parts: [{ text: "one two three" }] }] });
    expect(events).toMatchObject([{ kind: "artifact", append: true, artifact: { parts: [{ text: "three" }] } }]);
    expect(textOf(view.task?.artifacts?.[0]?.parts ?? [])).toBe("one two three");
  });

  it("reports a status change last, and once", () => {
    const view = new TaskView();
    view.begin(BEGINNING);
    const done: Task = {
      ...BEGINNING,
      status: { state: "completed", timestamp: TIME },
      artifacts: [{ artifactId: "a" as ArtifactId, parts: [{ text: "x" }] }],
      metadata: { cost: 1 },
    };
    expect(view.catchUp(done).map(({ kind }) => kind)).toEqual(["artifact", "status"]);
    expect(view.catchUp(done)).toEqual([]);
    expect(view.task).toEqual(done);
  });

  it("can be built from events alone", () => {
    const view = new TaskView();
    expect(view.task).toBeUndefined();
    view.add({ kind: "status", status: BEGINNING.status }, { ...PLACE, contextId: "" as ContextId });
    expect(view.task).toEqual({ ...BEGINNING, contextId: "" });
    view.add({ kind: "status", status: BEGINNING.status }, PLACE);
    expect(view.contextId).toBe("c");
  });

  it("adds 50 000 chunks in linear time", () => {
    const view = new TaskView();
    view.begin(BEGINNING);
    for (let index = 0; index < 50_000; index++) {
      const artifact = { artifactId: "a" as ArtifactId, parts: [{ text: "x" }] };
      view.add({ kind: "artifact", artifact, append: index > 0, lastChunk: false }, PLACE);
    }
    expect(view.task?.artifacts?.[0]?.parts).toEqual([{ text: "x".repeat(50_000) }]);
  });
});
