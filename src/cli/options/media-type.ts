import { extname } from "node:path";

/** Media types of common file name extensions. */
const TYPES: ReadonlyMap<string, string> = new Map([
  [".txt", "text/plain"],
  [".md", "text/markdown"],
  [".csv", "text/csv"],
  [".tsv", "text/tab-separated-values"],
  [".html", "text/html"],
  [".htm", "text/html"],
  [".css", "text/css"],
  [".js", "text/javascript"],
  [".mjs", "text/javascript"],
  [".ts", "text/plain"],
  [".py", "text/x-python"],
  [".log", "text/plain"],
  [".json", "application/json"],
  [".jsonl", "application/jsonl"],
  [".xml", "application/xml"],
  [".yaml", "application/yaml"],
  [".yml", "application/yaml"],
  [".pdf", "application/pdf"],
  [".zip", "application/zip"],
  [".gz", "application/gzip"],
  [".tar", "application/x-tar"],
  [".docx", "application/vnd.openxmlformats-officedocument.wordprocessingml.document"],
  [".xlsx", "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet"],
  [".pptx", "application/vnd.openxmlformats-officedocument.presentationml.presentation"],
  [".png", "image/png"],
  [".jpg", "image/jpeg"],
  [".jpeg", "image/jpeg"],
  [".gif", "image/gif"],
  [".webp", "image/webp"],
  [".svg", "image/svg+xml"],
  [".mp3", "audio/mpeg"],
  [".wav", "audio/wav"],
  [".ogg", "audio/ogg"],
  [".mp4", "video/mp4"],
  [".webm", "video/webm"],
]);

/** Reversed, so that the first extension of a media type in `TYPES` wins. */
const ENDINGS: ReadonlyMap<string, string> = new Map(
  Array.from(TYPES, ([ending, type]) => [type, ending] as const).reverse(),
);

/** The most likely media type of a file name. */
export function guessMediaType(filename: string): string | undefined {
  return TYPES.get(extname(filename).toLowerCase());
}

/** The most common extension of a media type; `.bin` if it is unknown. */
export function endingFor(mediaType: string | undefined): string {
  return ENDINGS.get(mediaType?.split(";")[0]?.trim().toLowerCase() ?? "") ?? ".bin";
}
