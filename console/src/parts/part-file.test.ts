import { describe, expect, it } from "vitest";
import { bytesOf, csvRows, fileName, kindOf, toBase64 } from "./part-file.ts";

describe("parts of agents", () => {
  it.each([
    [{ text: "hello" }, "markdown"],
    [{ text: "a,b", mediaType: "text/csv" }, "table"],
    [{ text: "<b>", mediaType: "text/html" }, "code"],
    [{ raw: "", mediaType: "image/png" }, "image"],
    [{ raw: "", mediaType: "text/html; charset=utf-8" }, "code"],
    [{ raw: "", mediaType: "application/pdf" }, "file"],
    [{ raw: "", mediaType: "application/json" }, "json"],
    [{ data: null }, "json"],
    [{ url: "https://x" }, "link"],
  ])("%j is shown as %s", (part, kind) => {
    expect(kindOf(part)).toBe(kind);
  });

  it("get a file name without folders, markup, control and direction characters", () => {
    expect(fileName({ filename: "../../etc/pass\u0000wd" }, "x")).toBe("passwd");
    expect(fileName({ filename: "a\\b\\<img>.png" }, "x")).toBe("img.png");
    expect(fileName({ filename: "evil\u202egnp.exe" }, "x")).toBe("evilgnp.exe");
    expect(fileName({ filename: "..." }, "answer")).toBe("answer");
    expect(fileName({ filename: "x".repeat(500) }, "x").length).toBe(120);
  });

  it("have the same bytes after base64, and invalid base64 is empty", () => {
    const all = Uint8Array.from({ length: 70_000 }, (_, index) => index % 256);
    expect(bytesOf({ raw: toBase64(all) })).toEqual(all);
    expect(bytesOf({ raw: "%%%" }).length).toBe(0);
  });

  it("read CSV with quotes, line breaks and commas in them", () => {
    expect(csvRows('a,"b ""c"", d"\r\n"x\ny",2\n', 10)).toEqual([
      ["a", 'b "c", d'],
      ["x\ny", "2"],
    ]);
    expect(csvRows("1\n2\n3", 2)).toEqual([["1"], ["2"]]);
  });
});
