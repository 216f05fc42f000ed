export interface SseFrame {
  readonly id: number | undefined;
  readonly data: string;
}

/**
 * The complete frames of a stream. A cut connection ends the stream: data after the last blank line is dropped, as in
 * browsers.
 */
export async function* sseFrames(response: AsyncIterable<Uint8Array>): AsyncGenerator<SseFrame, void> {
  const decoder = new TextDecoder();
  let rest = "";
  try {
    for await (const chunk of response) {
      const blocks = (rest + decoder.decode(chunk, { stream: true })).split("\n\n");
      rest = blocks.pop() ?? "";
      for (const block of blocks) {
        const frame = frameOf(block);
        if (frame !== undefined) yield frame;
      }
    }
  } catch {
    // The connection was cut. Frames received before stay valid.
  }
}

function frameOf(block: string): SseFrame | undefined {
  let id: number | undefined;
  let data = "";
  for (const line of block.split("\n")) {
    if (line.startsWith("id: ")) id = Number(line.slice(4));
    else if (line.startsWith("data: ")) data += line.slice(6);
  }
  return data === "" ? undefined : { id, data };
}
