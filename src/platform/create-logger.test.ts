import { execFileSync } from "node:child_process";
import { describe, expect, it } from "vitest";
import { logLevelFrom } from "./create-logger.ts";

const MODULE = new URL("./create-logger.ts", import.meta.url).href;

/** Runs a process that logs this. Returns its standard error. */
function logged(options: string, statement: string): string {
  const script = `
    import { createLogger } from ${JSON.stringify(MODULE)};
    const logger = createLogger(${options});
    ${statement};
    process.exit(0);`;
  return execFileSync("sh", ["-c", '"$0" --input-type=module -e "$1" 2>&1 >/dev/null', process.execPath, script], {
    encoding: "utf8",
  });
}

describe("the logger", () => {
  it("writes one JSON object per line, with errors and their stacks, before the process exits", () => {
    const line = logged(
      '{ level: "info", pretty: false }',
      'logger.warn("Careful", { task: "t-1", error: new Error("broken") })',
    );
    expect(JSON.parse(line)).toMatchObject({
      level: "warn",
      msg: "Careful",
      task: "t-1",
      time: expect.stringMatching(/^\d{4}-\d\d-\d\dT/),
      error: { message: "broken", stack: expect.stringContaining("Error: broken\n") },
    });
  });

  it("hides credentials of well-known forms in the texts of errors", () => {
    const line = logged(
      '{ level: "info", pretty: false }',
      'logger.error("Broken", { error: new Error("refused: Bearer abc.def.ghi", { cause: new Error("password=s3cr3t") }) })',
    );
    expect(line).toContain("refused: Bearer [hidden]");
    expect(line).not.toMatch(/abc\.def|s3cr3t/);
  });

  it("writes one line of text per record in text format", () => {
    const text = logged(
      '{ level: "debug", pretty: true }',
      'logger.debug("Careful", { task: "t-1", error: new Error("broken") })',
    );
    expect(text).toMatch(/^\d\d:\d\d:\d\d debug Careful task="t-1"\n {2}Error: broken\n/);
  });

  it("leaves out records below its level", () => {
    expect(logged('{ level: "warn", pretty: false }', 'logger.info("Nothing")')).toBe("");
    expect(logged('{ level: "silent", pretty: false }', 'logger.error("Nothing")')).toBe("");
  });
});

describe("LOG_LEVEL", () => {
  it("sets the level", () => {
    expect(logLevelFrom({ LOG_LEVEL: "error" })).toBe("error");
    expect(logLevelFrom({})).toBe("info");
    expect(() => logLevelFrom({ LOG_LEVEL: "loud" })).toThrow(
      /must be one of debug, info, warn, error, silent, not loud/,
    );
  });
});
