import { describe, expect, it } from "vitest";
import { dialectSettings } from "../options.ts";
import { createRootAgent, REQUIRE_DEFAULT_PROJECT } from "./root-agent.ts";

describe("the agent of a plain request that names none", () => {
  const plain = { id: "plain" };
  const withProject = { id: "with-project", defaultProjectId: "p1" };
  const lenient = createRootAgent(dialectSettings({}));
  const strict = createRootAgent(dialectSettings({ requireDefaultProject: true }));
  const noHeader = (): undefined => undefined;
  const required = (name: string): string | undefined => (name === REQUIRE_DEFAULT_PROJECT ? "true" : undefined);

  it("is the first that declares a default project", () => {
    for (const header of [noHeader, required]) {
      expect(lenient.choose([plain, withProject], header)).toBe(withProject);
      expect(strict.choose([plain, withProject], header)).toBe(withProject);
    }
  });

  it("is the first agent if none declares a default project, unless the server or the request requires one", () => {
    expect(lenient.choose([plain, { id: "second" }], noHeader)).toBe(plain);
    expect(lenient.choose([plain], required)).toBeUndefined();
    expect(strict.choose([plain], noHeader)).toBeUndefined();
  });
});
