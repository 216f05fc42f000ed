import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { senderOf } from "../../client/http/send.ts";
import type { Artifact } from "../../protocol/artifact.ts";
import type { ArtifactId } from "../../protocol/ids.ts";
import type { Part } from "../../protocol/part.ts";
import { saveArtifacts } from "./save-artifacts.ts";

let root: string;
let folder: string;
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), "palaver-save-"));
  folder = join(root, "out");
});
afterEach(() => rmSync(root, { recursive: true }));

const artifact = (name: string, ...parts: readonly Part[]): Artifact => ({
  artifactId: `${name}-id` as ArtifactId,
  name,
  parts,
});
const raw = (filename: string): Part => ({ raw: Buffer.from(filename).toString("base64"), filename });
const save = (artifacts: readonly Artifact[], more: Partial<Parameters<typeof saveArtifacts>[1]> = {}) =>
  saveArtifacts(artifacts, { folder, overwrite: false, signal: new AbortController().signal, ...more });

describe("saving artifacts", () => {
  it("writes nothing outside the folder, even if file names contain paths", async () => {
    const names = [
      "../../up",
      "/etc/passwd",
      "..",
      "",
      ".hidden",
      "C:\\a\\b.txt",
      "con.txt",
      "a\u0000\u001b[2Jb",
      "x".repeat(500),
    ];
    await save([artifact("odd", ...names.map(raw))]);
    expect(readdirSync(root)).toEqual(["out"]);
    const written = readdirSync(folder);
    expect(written).toHaveLength(names.length);
    for (const name of written) expect(name).toMatch(/^[\w][\w.[\] -]{0,155}$/);
  });

  it("numbers files that have the same name", async () => {
    await save([artifact("one", raw("a.txt"), raw("A.txt")), artifact("two", raw("a.txt"))]);
    expect(readdirSync(folder).sort()).toEqual(["A-2.txt", "a-3.txt", "a.txt"]);
  });

  it("joins adjacent text parts into one file and writes data to a second file", async () => {
    await save([
      artifact("talk", { text: "one " }, { text: "two" }, { data: null }, { text: "# x", mediaType: "text/markdown" }),
    ]);
    expect(readdirSync(folder).sort()).toEqual(["talk.json", "talk.md", "talk.txt"]);
    expect(readFileSync(join(folder, "talk.txt"), "utf8")).toBe("one two");
    expect(readFileSync(join(folder, "talk.json"), "utf8")).toBe("null\n");
  });

  it("does not follow an existing symbolic link and does not overwrite a file", async () => {
    mkdirSync(folder);
    writeFileSync(join(root, "precious"), "mine");
    symlinkSync(join(root, "precious"), join(folder, "a.txt"));
    await expect(save([artifact("x", raw("a.txt"))])).rejects.toThrow(/exists already/);
    expect(readFileSync(join(root, "precious"), "utf8")).toBe("mine");
  });

  it("downloads URLs only with `send`, without credentials, and removes incomplete files", async () => {
    const link = artifact("link", { url: "https://example.org/big.bin", filename: "big.bin" });
    expect(await save([link])).toEqual({ saved: [], left: ["https://example.org/big.bin"] });
    const asked: (RequestInit | undefined)[] = [];
    const fetch: typeof globalThis.fetch = async (_url, init) => {
      asked.push(init);
      return new Response("content");
    };
    await save([link], { send: senderOf({ fetch }) });
    expect(readFileSync(join(folder, "big.bin"), "utf8")).toBe("content");
    expect(new Headers(asked[0]?.headers).get("authorization")).toBeNull();
    const broken = new ReadableStream({
      start(controller) {
        controller.enqueue(new TextEncoder().encode("half"));
      },
      pull(controller) {
        controller.error(new Error("cut"));
      },
    });
    rmSync(join(folder, "big.bin"));
    await expect(save([link], { send: async () => new Response(broken) })).rejects.toThrow(
      /could not be written completely/,
    );
    expect(readdirSync(folder)).toEqual([]);
    const local = artifact("x", { url: "file:///etc/passwd" });
    await expect(save([local], { send: senderOf({ fetch }) })).rejects.toThrow(/not a URL/);
  });
});
