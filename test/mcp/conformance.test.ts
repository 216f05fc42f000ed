import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { SILENT_LOGGER } from "../../src/internal/logger.ts";
import { createServer, type Server } from "../../src/platform/create-server.ts";
import { sampled } from "../fixtures/budget.ts";
import { BASELINE } from "./baseline.ts";
import { checkName, judge, runScenario } from "./kit.ts";
import { KIT_AGENTS, KIT_OPTIONS } from "./kit-agents.ts";
import { TASK_SCENARIOS } from "./scenarios.ts";

let server: Server;
let url = "";

beforeAll(async () => {
  server = createServer(KIT_AGENTS, { ...KIT_OPTIONS, store: "memory:", port: 0, logger: SILENT_LOGGER });
  ({ url } = await server.listen());
});
afterAll(() => server.close());

const QUICK = ["tasks-mrtr-input", "tasks-request-headers", "server-stateless", "dns-rebinding-protection"];
const ALL = [...new Set([...QUICK, ...TASK_SCENARIOS])];

describe("the conformance kit of MCP", () => {
  it.each(ALL.slice(0, sampled(QUICK.length, ALL.length)))(
    "finds nothing wrong in %s but what the baseline lists",
    async (scenario) => {
      const { failures, stale } = judge(await runScenario(`${url}/mcp`, scenario), BASELINE["2026-07-28"]);
      expect({ failures: failures.map(checkName), stale }).toEqual({ failures: [], stale: [] });
    },
  );

  it("reports entries of the baseline that are out of date", () => {
    const check = { scenario: "a", id: "b", status: "SUCCESS", problem: "" } as const;
    expect(judge([check], { "a:b": "reason", "a:c": "did not run" }).stale).toEqual(["a:b"]);
    expect(judge([{ ...check, status: "FAILURE" }], {}).failures).toHaveLength(1);
  });
});
