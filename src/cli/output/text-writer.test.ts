import { describe, expect, it } from "vitest";
import { oneLine, plainText } from "../../internal/terminal-text.ts";
import { TextWriter } from "./text-writer.ts";

function written(): { readonly writer: TextWriter; readonly text: () => string } {
  let text = "";
  const writer = new TextWriter({
    isTTY: false,
    async write(more) {
      text += more;
    },
  });
  return { writer, text: () => text };
}

describe("text from an agent", () => {
  it("keeps line breaks and tabs; other control characters are escaped", () => {
    expect(plainText("a\tb\r\nc\u001b[31m\u0007\u009b\u202e")).toBe("a\tb\nc\\u001b[31m\\u0007\\u009b\\u202e");
    expect(oneLine("a\n\nb\tc")).toBe("a b c");
  });
});

describe("TextWriter", () => {
  it("writes a field on one line, also if its value has line breaks", async () => {
    const { writer, text } = written();
    await writer.field("Name", "x\nTask: forged");
    expect(text()).toBe("Name: x Task: forged\n");
  });

  it("ends a block with its only empty line", async () => {
    for (const [content, block] of [
      ["one", "one\n\n"],
      ["one\n", "one\n\n"],
      ["one\n\ntwo", "one\n \ntwo\n\n"],
      ["", "\n"],
      ["\n\none", " \n \none\n\n"],
    ] as const) {
      const { writer, text } = written();
      await writer.block("Text", content);
      expect(text()).toBe(`Text:\n${block}`);
    }
  });

  it("writes the same block whether it grows chunk by chunk or is written at once", async () => {
    const content = "a\n\nb\n\n\nc\n";
    const whole = written();
    await whole.writer.block("Text", content);
    const pieces = written();
    for (const piece of content) await pieces.writer.grow({ key: "k", label: "Text" }, piece);
    await pieces.writer.close();
    expect(pieces.text()).toBe(whole.text());
  });

  it("closes the open block before other output", async () => {
    const { writer, text } = written();
    await writer.grow({ key: "a", label: "Text" }, "one");
    await writer.grow({ key: "b", label: "Text" }, "two");
    await writer.field("State", "done");
    expect(text()).toBe("Text:\none\n\nText:\ntwo\n\nState: done\n");
  });
});
