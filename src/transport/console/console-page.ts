import type { FullReply, Headers } from "../exchange.ts";
import type { ConsoleFile, ConsoleFiles } from "./console-files.ts";

/**
 * Only scripts and styles of this server, no inline ones, no requests to other origins. Pictures of agents are shown as `blob:`, and so are previews
 * of HTML, in sandboxed frames, which get this policy, too. With Trusted Types, a mistake in the console cannot turn text into markup either.
 */
const POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self' blob:",
  "connect-src 'self'",
  "frame-src blob:",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
  "require-trusted-types-for 'script'",
  "trusted-types 'none'",
].join("; ");

const PAGE_HEADERS: Headers = {
  "content-security-policy": POLICY,
  "content-type": "text/html; charset=utf-8",
  "cache-control": "no-cache",
  "cross-origin-opener-policy": "same-origin",
  "cross-origin-resource-policy": "same-origin",
  "permissions-policy": "camera=(), geolocation=(), microphone=()",
  "referrer-policy": "no-referrer",
  "x-content-type-options": "nosniff",
  "x-frame-options": "DENY",
};

export interface ConsolePageOptions {
  /** The relative URL of the folder `/console/`, with a slash at its end. */
  readonly place: string;
  /** The URL of the agent that the console inspects. */
  readonly inspects?: string | undefined;
  /** The name of the page whose files the browser requests at once. Absent: only those of the first page. */
  readonly page?: string | undefined;
}

/** The page. */
export function consolePage(
  { script, style, preload, pages }: ConsoleFiles,
  { place, inspects, page = "" }: ConsolePageOptions,
): FullReply {
  const assets = `${place}assets/`;
  return html(200, [
    '<meta name="color-scheme" content="light dark">',
    ...(inspects === undefined ? [] : [`<meta name="palaver-inspects" content="${escaped(inspects)}">`]),
    `<link rel="icon" type="image/svg+xml" href="${assets}icon.svg">`,
    `<link rel="stylesheet" href="${assets}${style}">`,
    ...[...preload, ...(pages[page] ?? [])].map((name) => `<link rel="modulepreload" href="${assets}${name}">`),
    `<script type="module" src="${assets}${script}"></script>`,
    "<body><noscript>The console needs JavaScript.</noscript>",
  ]);
}

/** A page with one paragraph instead of the console. */
export function plainPage(status: number, text: string): FullReply {
  return html(status, [`<body><p>${escaped(text)}</p>`]);
}

function html(status: number, lines: readonly string[]): FullReply {
  const head = [
    "<!doctype html>",
    '<html lang="en">',
    '<meta charset="utf-8">',
    '<meta name="viewport" content="width=device-width, initial-scale=1">',
    "<title>Palaver</title>",
  ];
  return { status, headers: PAGE_HEADERS, body: `${[...head, ...lines].join("\n")}\n` };
}

function escaped(text: string): string {
  return text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll('"', "&quot;");
}

/** A file below `/console/assets/`. Its name has a hash of its content, so browsers may keep it. */
export function fileReply({ type, body, gzip }: ConsoleFile, acceptsGzip: boolean): FullReply {
  const headers: Headers = {
    "content-type": type,
    "cache-control": "public, max-age=31536000, immutable",
    "cross-origin-resource-policy": "same-origin",
    "x-content-type-options": "nosniff",
    vary: "Accept-Encoding",
    ...(acceptsGzip && { "content-encoding": "gzip" }),
  };
  return { status: 200, headers, body: acceptsGzip ? gzip : body };
}
