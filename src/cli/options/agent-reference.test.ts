import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { agentReference, referenceKey } from "./agent-reference.ts";

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "palaver-reference-"));
  writeFileSync(join(folder, "card"), "{}");
});
afterAll(() => rmSync(folder, { recursive: true }));

describe("--agent-card", () => {
  it.each([
    ["agents.example.org", "https://agents.example.org/"],
    ["agents.example.org:8443", "https://agents.example.org:8443/"],
    ["agents.example.org/agents/echo", "https://agents.example.org/agents/echo"],
    ["localhost:3000", "http://localhost:3000/"],
    ["127.0.0.1", "http://127.0.0.1/"],
    ["[::1]:3000", "http://[::1]:3000/"],
    ["http://h/a/card.json", "http://h/a/card.json"],
  ])("parses %s as the URL %s", (text, url) => {
    expect(agentReference(text, folder)).toEqual({ kind: "url", url });
  });

  it("is a file path if it looks like a path or if the file exists", () => {
    for (const text of ["./x", "../x", "/x", "card", "card.json", "no url"]) {
      expect(agentReference(text, folder).kind, text).toBe("file");
    }
    expect(agentReference("file:///a/b.json", folder)).toEqual({ kind: "file", path: "/a/b.json" });
  });

  it.each(["ftp://h/", "http://user:secret@h/", "http://", "file://host/x"])("rejects %s as a usage error", (text) => {
    expect(() => agentReference(text, folder)).toThrow(expect.objectContaining({ code: "A2ACLI_ERR_USAGE" }));
  });
});

describe("referenceKey", () => {
  it("is the same for equivalent URLs of one agent", () => {
    const keys = ["http://H:80/", "http://h", "http://h/.well-known/agent-card.json"].map((text) =>
      referenceKey(agentReference(text, folder)),
    );
    expect(new Set(keys)).toEqual(new Set(["http://h"]));
    expect(referenceKey(agentReference("http://h/agents/a/", folder))).toBe("http://h/agents/a");
  });
});
