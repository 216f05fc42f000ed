import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { runPackages } from "../../scripts/run-packages.mjs";

const lock = JSON.parse(readFileSync(new URL("../../package-lock.json", import.meta.url), "utf8"));
const { version } = lock.packages["node_modules/commander"];

test("npm start installs the dependencies and no development package, except protobuf for gRPC and what builds the console", () => {
  const { manifest, lock: wanted } = runPackages(lock, false);
  const packages = Object.keys(wanted.packages);
  const { dependencies, devDependencies } = lock.packages[""];
  const extra = ["@bufbuild/protobuf", "rolldown", "preact", "@preact/signals"];
  expect(manifest.dependencies).toEqual({
    ...dependencies,
    ...Object.fromEntries(extra.map((name) => [name, devDependencies[name]])),
  });
  expect(wanted.packages["node_modules/commander"]).toMatchObject({ version });
  const development = packages.filter((path) => lock.packages[path].dev === true);
  const others = development.filter(
    (path) => !/^node_modules\/(?:rolldown|@rolldown|preact|@preact)(?:\/|$)/.test(path),
  );
  expect(others).toEqual(["node_modules/@bufbuild/protobuf"]);
  expect(JSON.stringify(wanted.packages)).not.toContain('"dev":true');
});

test("packages that a dependency needs are installed, nested ones where Node finds them", () => {
  const packages = {
    "": { dependencies: { a: "1" }, devDependencies: { "@bufbuild/protobuf": "2", node: "24" } },
    "node_modules/a": { version: "1", dependencies: { b: "1", c: "1" } },
    "node_modules/a/node_modules/b": { version: "1", dependencies: { c: "1" } },
    "node_modules/b": { version: "2", dev: true },
    "node_modules/c": { version: "1" },
    "node_modules/@bufbuild/protobuf": { version: "2", dev: true },
    "node_modules/node": { version: "24", dev: true },
  };
  const paths = (withNode: boolean) => Object.keys(runPackages({ packages }, withNode).lock.packages).sort();
  const always = ["", "node_modules/@bufbuild/protobuf", "node_modules/a", "node_modules/a/node_modules/b"];
  expect(paths(false)).toEqual([...always, "node_modules/c"]);
  expect(paths(true)).toEqual([...always, "node_modules/c", "node_modules/node"]);
});
