import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { A2AError, ERROR_CODES } from "../../protocol/error.ts";
import { defaultCodec } from "../../wire/select.ts";
import { HTTP_STATUS } from "./http-status.ts";

const page = readFileSync(new URL("../../../docs/reference/errors.md", import.meta.url), "utf8");
const rows = page
  .split("\n")
  .filter((line) => line.startsWith("| `"))
  .map((line) => line.split("|").map((cell) => cell.trim().replaceAll("`", "")));

describe("The reference page of errors", () => {
  it("has a row for every code, in the same order", () => {
    expect(rows.map(([, code]) => code)).toEqual([...ERROR_CODES]);
  });

  it.each(ERROR_CODES)("says of %s what is sent", (code) => {
    const row = rows.find(([, name]) => name === code) ?? [];
    const sent: { code: number; data: [{ reason: string }] } = JSON.parse(
      defaultCodec.encodeError(new A2AError(code, "x")),
    );
    expect(row.slice(2, 5)).toEqual([String(sent.code), sent.data[0].reason, String(HTTP_STATUS[code])]);
    expect(row[5]).toMatch(/\.$/);
    expect(row[6]).toMatch(/\.$/);
  });
});
