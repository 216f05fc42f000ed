import type { WirePart } from "../data/operator-types.ts";

/** How a part is shown. */
export type PartKind = "markdown" | "plain" | "code" | "table" | "json" | "image" | "link" | "file";

/** Pictures that browsers draw. SVG too: in an `img` element its scripts do not run. */
const PICTURES = new Set(["image/png", "image/jpeg", "image/gif", "image/webp", "image/avif", "image/svg+xml"]);
const CODE = /^(?:text\/(?:html|css|javascript|x-|xml)|application\/(?:xml|javascript|x-|yaml|toml|sql))/;

/** The media type without parameters, in lower case. */
function typeOf({ mediaType = "" }: WirePart): string {
  return (mediaType.split(";")[0] ?? "").trim().toLowerCase();
}

/** How to show a part of an agent. Nothing is ever shown as HTML. */
export function kindOf(part: WirePart): PartKind {
  const type = typeOf(part);
  if (part.data !== undefined) return "json";
  if (part.url !== undefined) return "link";
  if (part.raw !== undefined) {
    if (PICTURES.has(type)) return "image";
    return type.startsWith("text/") || type === "application/json" ? textKind(type) : "file";
  }
  return part.filename === undefined || type === "text/markdown" ? textKind(type || "text/markdown") : textKind(type);
}

/** Whether a part is a text in HTML, of which a preview can be shown. */
export function isHtml(part: WirePart): boolean {
  return part.data === undefined && part.url === undefined && typeOf(part) === "text/html";
}

function textKind(type: string): PartKind {
  if (type === "text/markdown") return "markdown";
  if (type === "text/csv") return "table";
  if (type === "application/json" || type.endsWith("+json")) return "json";
  return CODE.test(type) ? "code" : "plain";
}

/** The bytes of a part. Invalid base64 is empty. */
export function bytesOf(part: WirePart): Uint8Array<ArrayBuffer> {
  if (part.raw !== undefined) return fromBase64(part.raw);
  const text = part.text ?? (part.data === undefined ? (part.url ?? "") : JSON.stringify(part.data, undefined, 2));
  return new TextEncoder().encode(text);
}

function fromBase64(text: string): Uint8Array<ArrayBuffer> {
  try {
    return Uint8Array.from(atob(text.replace(/-/g, "+").replace(/_/g, "/")), (letter) => letter.charCodeAt(0));
  } catch {
    return new Uint8Array();
  }
}

/** Base64 of a file to send. */
export function toBase64(bytes: Uint8Array): string {
  let text = "";
  for (let from = 0; from < bytes.length; from += 32_768)
    text += String.fromCharCode(...bytes.subarray(from, from + 32_768));
  return btoa(text);
}

/** The text of a part that is a text. */
export function textOfPart(part: WirePart): string {
  return part.text ?? new TextDecoder().decode(bytesOf(part));
}

/** A name for a download: without folders and control characters, at most 120 characters. */
export function fileName(part: WirePart, otherwise: string): string {
  const last = (part.filename ?? "").split(/[/\\]/).at(-1) ?? "";
  const clean = last
    .replace(/[\p{Cc}\p{Cf}<>:"|?*]/gu, "")
    .replace(/^\.+/, "")
    .trim();
  return clean.slice(0, 120) || otherwise;
}

/** Rows of CSV with quotes, at most `most`. */
export function csvRows(text: string, most: number): readonly (readonly string[])[] {
  const rows: string[][] = [];
  let row: string[] = [];
  let cell = "";
  let isQuoted = false;
  for (let index = 0; index < text.length && rows.length < most; index++) {
    const letter = text[index] ?? "";
    if (isQuoted) {
      if (letter !== '"') cell += letter;
      else if (text[index + 1] === '"') {
        cell += letter;
        index += 1;
      } else isQuoted = false;
    } else if (letter === '"' && cell === "") isQuoted = true;
    else if (letter === ",") {
      row.push(cell);
      cell = "";
    } else if (letter === "\n") {
      rows.push([...row, cell.replace(/\r$/, "")]);
      row = [];
      cell = "";
    } else cell += letter;
  }
  if (rows.length < most && (cell !== "" || row.length > 0)) rows.push([...row, cell]);
  return rows;
}
