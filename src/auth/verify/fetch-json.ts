/** The timeout in milliseconds and the most bytes of an issuer's document. */
const TIMEOUT = 5000;
const MAX_BYTES = 262_144;

/** Fetches a JSON object from an issuer. Does not follow redirects. Rejects if the document is too slow, too large or not an object. */
export async function fetchJson(
  url: string,
  fetch: typeof globalThis.fetch,
): Promise<Readonly<Record<string, unknown>>> {
  const response = await fetch(url, {
    headers: { accept: "application/json" },
    redirect: "error",
    signal: AbortSignal.timeout(TIMEOUT),
  });
  if (response.status !== 200) {
    await response.body?.cancel();
    throw new TypeError(`${url} answered with status ${response.status}.`);
  }
  const document: unknown = JSON.parse(await textOf(response, url));
  if (typeof document !== "object" || document === null || Array.isArray(document)) {
    throw new TypeError(`${url} did not answer with a JSON object.`);
  }
  return { ...document };
}

/** Counts while reading: `Content-Length` may be absent or wrong. */
async function textOf({ body }: Response, url: string): Promise<string> {
  const decoder = new TextDecoder();
  let text = "";
  let size = 0;
  const chunks: AsyncIterable<Uint8Array> = body ?? new ReadableStream<Uint8Array>();
  for await (const chunk of chunks) {
    size += chunk.byteLength;
    if (size > MAX_BYTES) throw new TypeError(`${url} answered with more than ${MAX_BYTES} bytes.`);
    text += decoder.decode(chunk, { stream: true });
  }
  return text + decoder.decode();
}
