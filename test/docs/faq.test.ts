import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { ROOT, sourceFiles } from "../architecture/imports.ts";
import { codeBlocks } from "./code-blocks.ts";

describe("docs/guide/faq.md", () => {
  const sources = sourceFiles(join(ROOT, "src")).map((file) =>
    readFileSync(file, "utf8").replaceAll(/\$\{[^}]*\}/g, "…"),
  );
  const symptoms = codeBlocks("docs/guide/faq.md").filter(({ mark }) => mark === "symptom");

  it("quotes at least 15 errors", () => {
    expect(symptoms.length).toBeGreaterThanOrEqual(15);
  });

  it.each(symptoms.map(({ code }) => code.trim()))("quotes an error that the sources have: %s", (symptom) => {
    const fragments = symptom.split("…").map((fragment) => fragment.trim());
    const isThere = sources.some((source) => fragments.every((fragment) => source.includes(fragment)));
    expect(isThere, `No file in src has this text. Update docs/guide/faq.md: ${symptom}`).toBe(true);
  });
});
