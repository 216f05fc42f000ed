import { describe, expect, it } from "vitest";
import { type Chart, drawCharts } from "./growth-chart.ts";

const chart: Chart = {
  title: "Tasks <stored>",
  sizes: "tasks",
  unit: "µs",
  curves: [
    { name: "send", points: [10, 1_000].map((size) => ({ size, cost: 10 })) },
    { name: "get", points: [10, 100, 1_000].map((size) => ({ size, cost: size / 10 })) },
  ],
};

describe("the picture of growth", () => {
  const picture = drawCharts([chart]);

  it("has a level line for a constant cost and a straight rising one for a proportional cost", () => {
    const lines = Array.from(picture.matchAll(/polyline points="([^"]+)"/g), ([, points = ""]) =>
      points.split(" ").map((point) => point.split(",").map(Number)),
    );
    expect(lines).toEqual([
      [
        [64, 162.7],
        [464, 162.7],
      ],
      [
        [64, 224],
        [264, 162.7],
        [464, 101.3],
      ],
    ]);
  });

  it("names the axes, the sizes, the powers of ten and the curves, as text of XML", () => {
    const texts = Array.from(picture.matchAll(/<text[^>]*>([^<]*)/g), ([, text]) => text);
    expect(texts).toEqual([
      ...["Tasks &lt;stored>", "1", "10", "100", "1,000", "10", "100", "1,000", "µs", "tasks"],
      ...["send", "get"],
    ]);
  });
});
