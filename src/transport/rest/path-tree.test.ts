import { describe, expect, it } from "vitest";
import { namesIn, PathTree } from "./path-tree.ts";

const PATTERNS = [
  "/message:send",
  "/tasks",
  "/tasks/{id}",
  "/tasks/{id}:cancel",
  "/tasks/{id}:subscribe",
  "/tasks/{id}/configs",
  "/tasks/{id}/configs/{configId}",
  "/files/{name}:open/pages/{page}",
];

function treeOf(patterns: readonly string[]): PathTree<string> {
  const tree = new PathTree<string>();
  for (const pattern of patterns) tree.at(pattern, () => pattern);
  return tree;
}

function find(path: string): readonly [string, readonly string[]] | undefined {
  const match = treeOf(PATTERNS).find(path.split("/"), 1);
  return match && [match.value, match.captured];
}

describe("A path tree", () => {
  it.each([
    ["/message:send", "/message:send", []],
    ["/tasks", "/tasks", []],
    ["/tasks/a", "/tasks/{id}", ["a"]],
    ["/tasks/a:cancel", "/tasks/{id}:cancel", ["a"]],
    ["/tasks/a:subscribe", "/tasks/{id}:subscribe", ["a"]],
    ["/tasks/a:b:cancel", "/tasks/{id}:cancel", ["a:b"]],
    ["/tasks/a:cancel:cancel", "/tasks/{id}:cancel", ["a:cancel"]],
    ["/tasks/a:other", "/tasks/{id}", ["a:other"]],
    ["/tasks/a:", "/tasks/{id}", ["a:"]],
    ["/tasks/:other", "/tasks/{id}", [":other"]],
    ["/tasks/a%3Acancel", "/tasks/{id}", ["a%3Acancel"]],
    ["/tasks/a%2Fb", "/tasks/{id}", ["a%2Fb"]],
    ["/tasks/tasks", "/tasks/{id}", ["tasks"]],
    ["/tasks/a/configs", "/tasks/{id}/configs", ["a"]],
    ["/tasks/a:b/configs/c:d", "/tasks/{id}/configs/{configId}", ["a:b", "c:d"]],
    ["/files/a:open/pages/1", "/files/{name}:open/pages/{page}", ["a", "1"]],
  ])("matches %s with %s", (path, pattern, captured) => {
    expect(find(path)).toEqual([pattern, captured]);
  });

  it.each([
    ["/"],
    [""],
    ["//"],
    ["/nowhere"],
    ["/Tasks"],
    ["/message"],
    ["/message:"],
    ["/message:other"],
    ["/message:send/x"],
    ["/tasks/"],
    ["/tasks//configs"],
    ["/tasks/:cancel"],
    ["/tasks/:subscribe"],
    ["/tasks/a/other"],
    ["/tasks/a:cancel/configs"],
    ["/tasks/a/configs/"],
    ["/tasks/a/configs/c/more"],
    ["/tasks/a/b/c/d/e/f/g"],
    ["/files/a:open"],
  ])("does not match %s", (path) => {
    expect(find(path)).toBeUndefined();
  });

  it("has one value per pattern, whatever the names of its parameters", () => {
    const tree = new PathTree<number>();
    expect(tree.at("/a/{x}:go", () => 1)).toBe(1);
    expect(tree.at("/a/{y}:go", () => 2)).toBe(1);
    expect(tree.at("/a/{y}", () => 3)).toBe(3);
  });

  it("does not confuse segments with members that every object has", () => {
    expect(find("/constructor")).toBeUndefined();
    expect(find("/__proto__")).toBeUndefined();
    expect(find("/tasks/__proto__")).toEqual(["/tasks/{id}", ["__proto__"]]);
  });
});

it("parameter names are listed in order", () => {
  expect(PATTERNS.map(namesIn)).toEqual([[], [], ["id"], ["id"], ["id"], ["id"], ["id", "configId"], ["name", "page"]]);
});
