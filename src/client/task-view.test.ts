import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { Artifact } from "../protocol/artifact.ts";
import type { ArtifactEvent, TaskEvent } from "../protocol/event.ts";
import { ArtifactFold } from "../protocol/fold.ts";
import type { ArtifactId, ContextId, TaskId } from "../protocol/ids.ts";
import { textOf } from "../protocol/part.ts";
import type { Task } from "../protocol/task.ts";
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

/** Its parts, with texts that follow each other run together: where a text goes on, it need not go on as a part of its own. */
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

describe("A task made of its events", () => {
  it("is after each event what these events add up to, whenever one looks", () => {
    fc.assert(
      fc.property(fc.array(artifactEvent, { maxLength: 12 }), (events) => {
        const view = new TaskView();
        view.begin({ ...BEGINNING, artifacts: [] });
        const told = events.map((event) => view.add(event, PLACE));
        // Only now, when all has happened, is each of them looked at.
        for (const [index, event] of told.entries()) {
          expect(event).toMatchObject({ task: folded(events.slice(0, index + 1)) });
        }
        expect(view.task).toEqual(folded(events));
      }),
    );
  });

  it("catches up with what it missed by events that lead there, and by none where it missed nothing", () => {
    fc.assert(
      fc.property(fc.array(artifactEvent, { maxLength: 10 }), fc.nat(10), (events, seen) => {
        const now: Task = { ...folded(events), status: { state: "completed", timestamp: TIME } };
        const view = new TaskView();
        view.begin({ ...BEGINNING, artifacts: [] });
        const fold = new ArtifactFold();
        for (const event of events.slice(0, seen)) {
          fold.add(event);
          view.add(event, PLACE);
        }
        for (const event of view.catchUp(now)) if (event.kind === "artifact") fold.add(event);
        expect(fold.artifacts().map(joined)).toEqual(now.artifacts?.map(joined));
        expect(view.catchUp(now)).toEqual([]);
      }),
    );
  });

  it("does not go back to what it was, as long as it is at work", () => {
    const view = new TaskView();
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
    expect(view.task).toEqual(end);
    expect(view.catchUp(before)).toEqual([]);
  });

  it("knows a text that goes on, also where its pieces were run together", () => {
    const view = new TaskView();
    const artifactId = "a" as ArtifactId;
    view.begin({ ...BEGINNING, artifacts: [{ artifactId, parts: [{ text: "one " }, { text: "two " }] }] });
    const events = view.catchUp({ ...BEGINNING, artifacts: [{ artifactId, parts: [{ text: "one two three" }] }] });
    expect(events).toMatchObject([{ kind: "artifact", append: true, artifact: { parts: [{ text: "three" }] } }]);
    expect(textOf(view.task?.artifacts?.[0]?.parts ?? [])).toBe("one two three");
  });

  it("tells a change of status last, and only once", () => {
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

  it("may be known by its events alone", () => {
    const view = new TaskView();
    expect(view.task).toBeUndefined();
    view.add({ kind: "status", status: BEGINNING.status }, { ...PLACE, contextId: "" as ContextId });
    expect(view.task).toEqual({ ...BEGINNING, contextId: "" });
    view.add({ kind: "status", status: BEGINNING.status }, PLACE);
    expect(view.contextId).toBe("c");
  });

  it("takes tens of thousands of chunks without looking at them again and again", () => {
    const view = new TaskView();
    view.begin(BEGINNING);
    for (let index = 0; index < 50_000; index++) {
      const artifact = { artifactId: "a" as ArtifactId, parts: [{ text: "x" }] };
      view.add({ kind: "artifact", artifact, append: index > 0, lastChunk: false }, PLACE);
    }
    expect(view.task?.artifacts?.[0]?.parts).toHaveLength(50_000);
  });
});
