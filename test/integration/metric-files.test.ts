import { spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { agent, createServer } from "palaver";
import { expect, test } from "vitest";

const FOLDER = join(import.meta.dirname, "..", "..", "docs", "operations");
const ALERTS = join(FOLDER, "alerts.yaml");

/** The metrics that a file of `docs/operations` names. The series of a histogram count as the histogram. */
function metricsIn(file: string): ReadonlySet<string> {
  const text = readFileSync(join(FOLDER, file), "utf8");
  const names = text.match(/\b(?:palaver|process|nodejs)_[a-z_]+/g) ?? [];
  return new Set(names.map((name) => name.replace(/_(?:bucket|sum|count)$/, "")));
}

/** The dashboard shows the memory of the whole process, and no times of starts. */
const NOT_ON_THE_DASHBOARD = ["nodejs_heap_size_used_bytes", "process_start_time_seconds"];

test("every metric of a server is documented", async () => {
  const echo = agent({
    name: "Echo",
    description: "Repeats.",
    version: "1",
    run: (task) => Promise.resolve(task.text),
  });
  const server = createServer(echo, { port: 0, store: "memory:" });
  try {
    const { url } = await server.listen();
    const text = await (await fetch(`${url}/metrics`)).text();
    const scraped = Array.from(text.matchAll(/^# TYPE (\S+) /gm), ([, name = ""]) => name);
    expect(scraped.length).toBeGreaterThan(20);
    const documented = metricsIn("metrics.md");
    expect(scraped.filter((name) => !documented.has(name))).toEqual([]);
  } finally {
    await server.close();
  }
});

test("the dashboard has every documented metric, and no other", () => {
  const expected = [...metricsIn("metrics.md")].filter((name) => !NOT_ON_THE_DASHBOARD.includes(name));
  expect([...metricsIn("grafana-dashboard.json")].toSorted()).toEqual(expected.toSorted());
});

test("the alert rules name documented metrics only", () => {
  const documented = metricsIn("metrics.md");
  expect([...metricsIn("alerts.yaml")].filter((name) => !documented.has(name))).toEqual([]);
});

test("promtool accepts the alert rules", ({ skip }) => {
  const { error, status, stderr } = spawnSync("promtool", ["check", "rules", ALERTS], { encoding: "utf8" });
  skip(error !== undefined, "promtool is not installed (Debian: apt-get install prometheus)");
  expect(stderr).toBe("");
  expect(status).toBe(0);
});
