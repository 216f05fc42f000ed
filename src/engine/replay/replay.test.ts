import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { ArtifactEvent, TaskEvent } from "../../protocol/event.ts";
import type { ArtifactId } from "../../protocol/ids.ts";
import type { Part } from "../../protocol/part.ts";
import { readEvent, writeEvent } from "../../protocol/serial.ts";
import type { LogEntry } from "../../store/contract.ts";
import { type Note, partFingerprint, statusFingerprint, writeNote } from "../log/note.ts";
import { Replay } from "./replay.ts";

const A = "a" as ArtifactId;
const B = "b" as ArtifactId;

function chunk(
  id: ArtifactId,
  texts: readonly string[],
  options: { readonly append?: boolean; readonly note?: Partial<Note> } = {},
): [TaskEvent, Partial<Note>] {
  const event: ArtifactEvent = {
    kind: "artifact",
    artifact: { artifactId: id, name: id, parts: texts.map((text) => ({ text })) },
    append: options.append ?? true,
    lastChunk: false,
  };
  return [event, options.note ?? {}];
}

function status(text: string, note: Partial<Note> = {}): [TaskEvent, Partial<Note>] {
  // Safe: only the parts of the message are read.
  const message = { messageId: text, role: "agent", parts: [{ text }] } as never;
  return [{ kind: "status", status: { state: "working", timestamp: "2030-01-01T00:00:00.000Z", message } }, note];
}

async function replayOf(
  events: readonly (readonly [TaskEvent, Partial<Note>])[],
  options: { readonly turnAfter?: number; readonly remembered?: readonly string[] } = {},
): Promise<Replay> {
  const entries: LogEntry[] = events.map(([event, note], index) => {
    const text = writeNote(note);
    return { seq: index + 1, body: writeEvent(event), ...(text !== undefined && { note: text }) };
  });
  const { turnAfter = 0 } = options;
  const replay = new Replay({
    async *entries(after, upTo) {
      yield* entries.filter(({ seq }) => seq > after && seq <= upTo);
    },
    turnAfter,
    upTo: entries.length,
    isRemembered: (step) => options.remembered?.includes(step) === true,
  });
  for (const entry of entries) if (entry.seq > turnAfter) replay.add(entry, readEvent(entry.body));
  return replay;
}

function parts(...texts: readonly string[]): Part[] {
  return texts.map((text) => ({ text }));
}

describe("matching parts", () => {
  test("matches the parts in the log, then reports that the rest is new", async () => {
    const replay = await replayOf([chunk(A, ["1"]), chunk(A, ["2", "3"])]);
    expect(replay.matchParts(A, parts("1", "2"))).toEqual({ matched: 2, diverged: false });
    expect(replay.unmatched()).toEqual([A]);
    expect(replay.matchParts(A, parts("3", "4"))).toEqual({ matched: 1, diverged: false });
    expect(replay.matchParts(A, parts("5"))).toEqual({ matched: 0, diverged: false });
    expect(replay.unmatched()).toEqual([]);
  });

  test("reports where the log continues differently", async () => {
    const replay = await replayOf([chunk(A, ["1", "2"])]);
    expect(replay.matchParts(A, parts("1", "x", "2"))).toEqual({ matched: 1, diverged: true });
  });

  test("matches nothing of an artifact that is not in the log", async () => {
    const replay = await replayOf([chunk(A, ["1"])]);
    expect(replay.matchParts(B, parts("1"))).toEqual({ matched: 0, diverged: false });
  });

  test("compares with the last version of a restarted artifact", async () => {
    const replay = await replayOf([chunk(A, ["1", "2"]), chunk(A, ["x"], { append: false })]);
    expect(replay.matchParts(A, parts("x"))).toEqual({ matched: 1, diverged: false });
  });

  test("skips the content of stored steps before, between and after other content", async () => {
    const note = { step: "step:s#1" };
    const replay = await replayOf(
      [
        chunk(A, ["s"], { note }),
        chunk(A, ["1"]),
        chunk(A, ["s"], { note }),
        chunk(A, ["2"]),
        chunk(A, ["s"], { note }),
      ],
      { remembered: ["step:s#1"] },
    );
    expect(replay.matchParts(A, parts("1", "2"))).toEqual({ matched: 2, diverged: false });
    expect(replay.unmatched()).toEqual([]);
  });

  test("expects the content of a step whose result is not stored", async () => {
    const replay = await replayOf([chunk(A, ["s"], { note: { step: "step:s#1" } })]);
    expect(replay.unmatched()).toEqual([A]);
    expect(replay.matchParts(A, parts("s"))).toEqual({ matched: 1, diverged: false });
  });

  test("ignores earlier turns, and their content that a restart repeated in this turn", async () => {
    const replay = await replayOf(
      [chunk(A, ["old"]), chunk(A, ["old"], { append: false, note: { isEarlierTurn: true } }), chunk(A, ["1"])],
      { turnAfter: 1 },
    );
    expect(replay.matchParts(A, parts("1"))).toEqual({ matched: 1, diverged: false });
    expect(replay.unmatched()).toEqual([]);
  });

  test("compares with what the code wrote if a transform changed it", async () => {
    const fingerprints = parts("1", "2").map(partFingerprint);
    const replay = await replayOf([
      chunk(A, ["ONE", "TWO"], { note: { fingerprints } }),
      chunk(A, ["ALL"], { note: { fingerprints } }),
    ]);
    expect(replay.matchParts(A, parts("1", "2", "1", "x"))).toEqual({ matched: 3, diverged: true });
    const { replayed, partial } = await replay.restart(A);
    expect(replayed).toEqual([{ parts: parts("ONE", "TWO"), fingerprints, isEarlierTurn: false, step: undefined }]);
    expect(partial).toEqual(parts("1"));
  });
});

describe("matching statuses", () => {
  const fingerprintOf = (text: string) => statusFingerprint(parts(text), undefined);

  test("matches in order up to the first difference, and nothing after it", async () => {
    const replay = await replayOf([status("one"), status("two"), status("three")]);
    expect(["one", "zwei", "three"].map((text) => replay.matchStatus(fingerprintOf(text)))).toEqual([
      true,
      false,
      false,
    ]);
  });

  test("ignores statuses of the engine and of stored steps", async () => {
    const replay = await replayOf(
      [status("engine", { isEngine: true }), status("step", { step: "s" }), status("mine")],
      {
        remembered: ["s"],
      },
    );
    expect(replay.matchStatus(fingerprintOf("mine"))).toBe(true);
  });

  test("ignores generated ids and times, but compares metadata", async () => {
    const replay = await replayOf([status("one")]);
    expect(replay.matchStatus(statusFingerprint(parts("one"), { n: 1 }))).toBe(false);
  });
});

describe("restarting an artifact", () => {
  test("keeps the content of earlier turns and the matched content, each with its origin", async () => {
    const replay = await replayOf(
      [chunk(A, ["old"]), chunk(A, ["1"]), chunk(A, ["s"], { note: { step: "s" } }), chunk(A, ["2"])],
      { turnAfter: 1, remembered: ["s"] },
    );
    replay.matchParts(A, parts("1"));
    await replay.reachStep("s");
    expect(replay.matchParts(A, parts("x"))).toEqual({ matched: 0, diverged: true });
    const { members, replayed } = await replay.restart(A);
    expect(members).toEqual({ artifactId: "a", name: "a" });
    expect(replayed.map(({ parts: [part], isEarlierTurn, step }) => [part?.text, isEarlierTurn, step])).toEqual([
      ["old", true, undefined],
      ["1", false, undefined],
      ["s", false, "s"],
    ]);
    expect(replay.matchParts(A, parts("2"))).toEqual({ matched: 0, diverged: false });
  });

  test("leaves out the content of a step that is not reached yet, and returns it once when the step is reached", async () => {
    const replay = await replayOf(
      [chunk(A, ["1"]), chunk(A, ["s1", "s2"], { note: { step: "s" } }), chunk(B, ["s3"], { note: { step: "s" } })],
      { remembered: ["s"] },
    );
    expect(replay.matchParts(A, parts("x")).diverged).toBe(true);
    expect((await replay.restart(A)).replayed).toEqual([]);
    const contents = await replay.reachStep("s");
    expect(contents?.map(({ id, pieces }) => [id, pieces.flatMap((piece) => piece.parts)])).toEqual([
      [A, parts("s1", "s2")],
    ]);
    expect(replay.reachStep("s")).toBeUndefined();
  });

  test("returns the content of a step although an earlier attempt died between the restart and the step", async () => {
    const note = { step: "s" };
    const replay = await replayOf(
      [
        chunk(A, ["1"]),
        chunk(A, ["s0"], { note }),
        chunk(A, ["1"], { append: false }),
        chunk(A, ["s1"], { note }),
        chunk(A, ["x"], { append: false }),
      ],
      { remembered: ["s"] },
    );
    expect(replay.matchParts(A, parts("x"))).toEqual({ matched: 1, diverged: false });
    const contents = await replay.reachStep("s");
    expect(contents?.flatMap(({ pieces }) => pieces.flatMap((piece) => piece.parts))).toEqual(parts("s1"));
  });

  test("distinguishes steps with the same key in different turns", async () => {
    const note = { step: "s" };
    const replay = await replayOf([chunk(A, ["s0"], { note }), chunk(A, ["1"]), chunk(A, ["s1"], { note })], {
      turnAfter: 1,
      remembered: ["s"],
    });
    replay.matchParts(A, parts("x"));
    const { replayed } = await replay.restart(A);
    expect(replayed.map(({ parts: [part], step }) => [part?.text, step])).toEqual([["s0", undefined]]);
    const contents = await replay.reachStep("s");
    expect(contents?.flatMap((each) => each.pieces.flatMap((piece) => piece.parts))).toEqual(parts("s1"));
  });

  test("does not return content of a step that an earlier attempt has written again", async () => {
    const note = { step: "s" };
    const replay = await replayOf(
      [chunk(A, ["s1"], { note }), chunk(A, ["x"], { append: false }), chunk(A, ["s1"], { note })],
      { remembered: ["s"] },
    );
    expect(replay.reachStep("s")).toBeUndefined();
  });

  test("begins with nothing if the artifact is not in the log", async () => {
    const replay = await replayOf([]);
    expect(await replay.restart(A)).toEqual({ members: undefined, replayed: [], partial: [], generation: 0 });
  });
});

test("matched and newly written content always add up to what the attempt wrote", async () => {
  const texts = fc.array(fc.constantFrom("x", "y", "z"), { maxLength: 6 });
  await fc.assert(
    fc.asyncProperty(fc.array(texts, { maxLength: 4 }), fc.array(texts, { maxLength: 4 }), async (logged, written) => {
      const replay = await replayOf(logged.map((each) => chunk(A, each)));
      let held: string[] = logged.flat();
      for (const each of written) {
        const { matched, diverged } = replay.matchParts(A, parts(...each));
        if (diverged) {
          const { replayed, partial } = await replay.restart(A);
          held = [...replayed.flatMap((piece) => piece.parts), ...partial].map(({ text }) => text ?? "");
        }
        held.push(...each.slice(matched));
      }
      for (const id of replay.unmatched()) {
        const { replayed, partial } = await replay.restart(id);
        held = [...replayed.flatMap((piece) => piece.parts), ...partial].map(({ text }) => text ?? "");
      }
      expect(held).toEqual(written.flat());
    }),
  );
});
