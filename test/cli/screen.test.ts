import { expect, it } from "vitest";
import { openSetting } from "./compliance/setting.ts";

const { at, terminal } = openSetting();

/** The visible text of everything written to a terminal. */
function screen(written: string): string {
  return written
    .split("\n")
    .map((line) => line.split("\r\u001b[2K").at(-1))
    .join("\n");
}

it("shows progress without erasing the line that is being streamed", async () => {
  let written = "";
  const sink = {
    isTTY: true,
    async write(text: string): Promise<void> {
      written += text;
    },
  };
  const argv = ["send", "2", "--stream", ...at("countdown")];
  expect((await terminal.run(argv, { context: { stdout: sink, stderr: sink } })).code).toBe(0);
  expect(screen(written)).toContain("Text:\n2 1 Lift-off!\n");
  expect(screen(written)).not.toMatch(/[⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏]/);
});

it("keeps showing progress if the output goes to a file", async () => {
  let seen = "";
  const stderr = {
    isTTY: true,
    async write(text: string): Promise<void> {
      seen += text;
    },
  };
  const { stdout } = await terminal.run(["send", "2", "--stream", ...at("countdown")], { context: { stderr } });
  expect(stdout).toContain("Text:\n2 1 Lift-off!\n");
  expect(seen.match(/[⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏]/g)?.length).toBeGreaterThan(3);
});
