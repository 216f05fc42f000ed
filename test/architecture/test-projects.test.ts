import { globSync, readFileSync } from "node:fs";
import { join, matchesGlob } from "node:path";
import { describe, expect, test } from "vitest";
import config from "../../vitest.config.ts";
import { filesOnNodes, OWN_PROCESS } from "../projects.ts";
import { ROOT } from "./imports.ts";

/** The tests of `frameworks` need packages that only `npm run frameworks` installs; those of `templates` run in the projects that are made of them. */
const FILES = globSync("**/*.test.ts", { cwd: ROOT, exclude: ["**/node_modules", ".git", "frameworks", "templates"] })
  .map((file) => file.replaceAll("\\", "/"))
  .toSorted();

/** What a file does that could disturb, or be disturbed by, other files in its process. */
const NEEDS_OWN_PROCESS = [
  /\bmemoryUsage\b|\bheapUsed\b|processor-time\.ts|getActiveResourcesInfo/,
  /removeAllListeners\("unhandledRejection"\)/,
  /new Worker\(url/,
  /process\.chdir\(|\bvi\.(mock|doMock)\(/,
];

/** The names of the projects of vitest.config.ts that run a file. */
function projectsOf(file: string): readonly string[] {
  const names: string[] = [];
  for (const project of config.test?.projects ?? []) {
    if (typeof project !== "object" || !("test" in project)) throw new Error("Expected projects with their settings.");
    const { name, include = [], exclude = [] } = project.test ?? {};
    if (typeof name !== "string") throw new Error("Expected projects with names.");
    const isMatch = (pattern: string): boolean => matchesGlob(file, pattern);
    if (include.some(isMatch) && !exclude.some(isMatch)) names.push(name);
  }
  return names;
}

describe("the projects of vitest.config.ts", () => {
  test("run each test file of the repository exactly once, and some of them again on three nodes", () => {
    expect(FILES.length).toBeGreaterThan(400);
    const onOneNode = (file: string) => projectsOf(file).filter((name) => name !== "three-nodes");
    expect(FILES.filter((file) => onOneNode(file).length !== 1)).toEqual([]);
    for (const pattern of filesOnNodes(true)) expect(FILES.some((file) => matchesGlob(file, pattern))).toBe(true);
    // The check can fail: these are in no project, and in one.
    expect(projectsOf("scripts/new.test.ts")).toEqual([]);
    expect(projectsOf("src/store/sqlite/new.test.ts")).toEqual(["own-process"]);
    expect(projectsOf("src/engine/new.test.ts")).toEqual(["shared-process"]);
  });

  test("give a process to each file that measures or changes its process", () => {
    const inNeed = FILES.filter((file) => {
      const text = file.startsWith("test/architecture/") ? "" : readFileSync(join(ROOT, file), "utf8");
      return NEEDS_OWN_PROCESS.some((pattern) => pattern.test(text));
    });
    expect(inNeed).not.toEqual([]);
    expect(inNeed.filter((file) => !projectsOf(file).includes("own-process"))).toEqual([]);
  });

  test.each(OWN_PROCESS)("still have a file for %s", (pattern) => {
    expect(FILES.some((file) => matchesGlob(file, pattern))).toBe(true);
  });
});
