import { describe, expect, it } from "vitest";
import { BodyMemory, type BodyShare } from "./body-memory.ts";

const KB = 1000;

function open(limits = { total: 100 * KB, perAddress: 60 * KB }) {
  const memory = new BodyMemory(limits);
  const dropped: string[] = [];
  const body = (name: string, remote?: string): BodyShare => memory.reserve(remote, () => dropped.push(name));
  return { memory, dropped, body };
}

describe("The memory of unfinished bodies", () => {
  it("drops the body without progress for the longest time if all bodies exceed the total", () => {
    const { memory, dropped, body } = open();
    const [a, b, c] = [body("a"), body("b"), body("c")];
    a.update(1, 40 * KB);
    b.update(1, 40 * KB);
    a.update(66 * KB, 40 * KB);
    c.update(1, 40 * KB);
    expect(dropped).toEqual(["b"]);
    expect(memory.bytes).toBe(80 * KB);
  });

  it("drops as many bodies as needed, and never the one that grows", () => {
    const { memory, dropped, body } = open();
    const bodies = ["a", "b", "c", "d"].map((name) => body(name));
    for (const share of bodies) share.update(1, 25 * KB);
    bodies[0]?.update(2, 100 * KB);
    expect(dropped).toEqual(["b", "c", "d"]);
    expect(memory.bytes).toBe(100 * KB);
  });

  it("does not count a few bytes as progress", () => {
    const { dropped, body } = open();
    const [slow, fast] = [body("slow"), body("fast")];
    slow.update(1, 50 * KB);
    fast.update(1, 30 * KB);
    for (let received = 2; received < 1000; received++) slow.update(received, 50 * KB);
    body("new").update(1, 50 * KB);
    expect(dropped).toEqual(["slow"]);
  });

  it("drops only bodies of the same address if that address exceeds its limit", () => {
    const { memory, dropped, body } = open();
    body("other", "192.0.2.2").update(1, 30 * KB);
    body("first", "192.0.2.1").update(1, 40 * KB);
    body("second", "::ffff:192.0.2.1").update(1, 30 * KB);
    expect(dropped).toEqual(["first"]);
    expect(memory.bytes).toBe(60 * KB);
  });

  it("counts a /64 IPv6 network as one address, and unknown addresses only towards the total", () => {
    const { dropped, body } = open();
    body("a", "2001:db8::1").update(1, 40 * KB);
    body("b", "2001:db8::2").update(1, 40 * KB);
    expect(dropped).toEqual(["a"]);
    const unknown = open();
    unknown.body("a").update(1, 50 * KB);
    unknown.body("b").update(1, 50 * KB);
    expect(unknown.dropped).toEqual([]);
  });

  it("releases the memory of a body once", () => {
    const { memory, dropped, body } = open();
    const share = body("a", "192.0.2.1");
    share.update(1, 60 * KB);
    share.release();
    share.release();
    expect(memory.bytes).toBe(0);
    body("b", "192.0.2.1").update(1, 60 * KB);
    expect(dropped).toEqual([]);
  });
});
