import { describe, expect, it } from "vitest";
import { type CpuProfile, callTree, drawFlameGraph } from "./flame-graph.ts";

const node = (id: number, functionName: string, { url = "", children = [] as readonly number[] } = {}) => ({
  id,
  callFrame: { functionName, url, lineNumber: 9 },
  children,
});

/** `serve` calls `parse<T>`, which calls a built-in function; the rest is waiting. */
const PROFILE: CpuProfile = {
  nodes: [
    node(1, "(root)", { children: [2, 5] }),
    node(2, "serve", { url: "file:///any/where/src/server/serve.ts", children: [3] }),
    node(3, "parse<T>", { url: "node:internal/parse", children: [4] }),
    node(4, "stringify"),
    node(5, "(idle)"),
  ],
  samples: [4, 2, 3, 4, 5, 4],
  timeDeltas: [500, 10, 20, 30, 1000, 40],
};

describe("A flame graph", () => {
  it("counts the time of a function with what it calls, and leaves out waiting and the start", () => {
    const root = callTree(PROFILE, 500);
    const serve = root.calls.get("serve src/server/serve.ts:10");
    const parse = serve?.calls.get("parse<T> node:internal/parse:10");
    expect([root.total, serve?.total, parse?.total, parse?.calls.get("stringify")?.total]).toEqual([100, 100, 90, 70]);
  });

  it("is an image in which each function is as wide as its time", () => {
    const image = drawFlameGraph(PROFILE, { title: "A & B", whole: 20, unit: "µs", after: 500 });
    expect(image).toContain("A &amp; B: 20 µs");
    const widths = Array.from(
      image.matchAll(/<title>([^<]*) – ([\d.]+ µs).*?width="([\d.]+)"/g),
      ([, name, cost, width]) => [name, cost, width],
    );
    expect(widths).toEqual([
      ["all", "20.00 µs", "1199.5"],
      ["serve src/server/serve.ts:10", "20.00 µs", "1199.5"],
      ["parse&lt;T> node:internal/parse:10", "18.00 µs", "1079.5"],
      ["stringify", "14.00 µs", "839.5"],
    ]);
  });
});
