import { describe, expect, it } from "vitest";
import { BodyBuffer } from "./body-buffer.ts";
import { BodyMemory } from "./body-memory.ts";

function open({ limit = 1_000_000, declared }: { limit?: number; declared?: number } = {}) {
  const memory = new BodyMemory({ total: 2_000_000, perAddress: 2_000_000 });
  let drops = 0;
  const buffer = new BodyBuffer({
    limit,
    declared,
    reserve: (drop) => memory.reserve(undefined, drop),
    dropped: () => {
      drops += 1;
    },
  });
  return { memory, buffer, drops: () => drops };
}

describe("A buffer for a body", () => {
  it("returns a body of one chunk without copying, and counts it only until it is complete", () => {
    const { memory, buffer } = open({ declared: 3 });
    const chunk = Buffer.from("abc");
    buffer.add(chunk);
    expect(memory.bytes).toBe(0);
    expect(buffer.finish()).toBe(chunk);
    const unknown = open();
    unknown.buffer.add(chunk);
    expect(unknown.memory.bytes).toBe(3);
    expect(unknown.buffer.finish()).toBe(chunk);
    expect(unknown.memory.bytes).toBe(0);
  });

  it.each([undefined, 300_000, 7])("joins chunks if the declared length is %s", (declared) => {
    const { memory, buffer } = open(declared === undefined ? {} : { declared });
    const text = "0123456789".repeat(30_000);
    for (let at = 0; at < text.length; at += 777) buffer.add(Buffer.from(text.slice(at, at + 777)));
    expect(Buffer.from(buffer.finish()).toString()).toBe(text);
    expect(memory.bytes).toBe(0);
  });

  it("allocates about as much memory as bytes arrive, however small the chunks", () => {
    const { memory, buffer } = open({ declared: 500_001 });
    const chunk = Buffer.from("x");
    for (let count = 0; count < 500_000; count++) buffer.add(chunk);
    expect(memory.bytes).toBe(500_001);
    expect(buffer.finish().byteLength).toBe(500_000);
  });

  it("refuses more than the limit and releases its memory", () => {
    const { memory, buffer } = open({ limit: 10 });
    buffer.add(Buffer.from("12345"));
    buffer.add(Buffer.from("12345"));
    expect(() => buffer.add(Buffer.from("1"))).toThrow("must not be larger than 10 bytes");
    expect(memory.bytes).toBe(0);
  });

  it("calls dropped() once", () => {
    const { memory, buffer, drops } = open();
    buffer.add(Buffer.from("12345"));
    memory.reserve(undefined, () => {}).update(1, 2_000_000);
    expect(drops()).toBe(1);
    expect(memory.bytes).toBe(2_000_000);
  });
});
