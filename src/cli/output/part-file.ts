import type { Part, RawPart, UrlPart } from "../../protocol/part.ts";

/** One line about a file: name, media type, and size or URL. */
export function describeFile(part: RawPart | UrlPart): string {
  const name = part.filename ?? "(no name)";
  const type = part.mediaType ?? "application/octet-stream";
  return part.raw === undefined ? `${name} (${type}, at ${part.url})` : `${name} (${type}, ${rawSize(part.raw)} bytes)`;
}

/** The size in bytes of base64-encoded content. */
export function rawSize(raw: string): number {
  const padding = raw.endsWith("==") ? 2 : raw.endsWith("=") ? 1 : 0;
  return Math.floor((raw.length * 3) / 4) - padding;
}

/** The bytes of a part. `undefined`: the part has only a URL. */
export function bytesOf(part: Part): Uint8Array | undefined {
  if (part.raw !== undefined) return Buffer.from(part.raw, "base64");
  if (part.text !== undefined) return Buffer.from(part.text, "utf8");
  if (part.data !== undefined) return Buffer.from(`${JSON.stringify(part.data, null, 2)}\n`, "utf8");
  return undefined;
}

/** Joins adjacent text parts: streaming splits one text into several parts. */
export function joinedText(parts: readonly Part[]): readonly Part[] {
  const whole: Part[] = [];
  for (const part of parts) {
    const last = whole.at(-1);
    if (last?.text !== undefined && part.text !== undefined && part.filename === undefined) {
      whole[whole.length - 1] = { ...last, text: last.text + part.text };
    } else whole.push(part);
  }
  return whole;
}
