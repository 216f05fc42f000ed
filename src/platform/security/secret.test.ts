import { mkdtempSync, readdirSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { readOrCreateSecret } from "./secret.ts";

describe("the secret", () => {
  let folder: string;
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), "palaver-secret-"));
  });
  afterEach(() => rmSync(folder, { recursive: true }));

  it("is created once, reused, and readable only by its owner", () => {
    const file = join(folder, "tasks.db.key");
    const secret = readOrCreateSecret(file);
    expect(secret).toHaveLength(32);
    expect(new Uint8Array(readOrCreateSecret(file))).toEqual(new Uint8Array(secret));
    expect(statSync(file).mode & 0o777).toBe(0o600);
    expect(readdirSync(folder)).toEqual(["tasks.db.key"]);
  });

  it("differs between files", () => {
    expect(readOrCreateSecret(join(folder, "a"))).not.toEqual(readOrCreateSecret(join(folder, "b")));
  });

  it("is not replaced if it is damaged, because data encrypted with it would be lost", () => {
    const file = join(folder, "tasks.db.key");
    writeFileSync(file, "short");
    expect(() => readOrCreateSecret(file)).toThrow(/is damaged[\s\S]*backup/);
    expect(statSync(file).size).toBe(5);
  });

  it("fails if its folder cannot be used", () => {
    expect(() => readOrCreateSecret(join(folder, "missing", "key"))).toThrow(/cannot be used/);
  });
});
