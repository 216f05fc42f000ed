const NEWLINE = 10;

/**
 * Extracts the body of one HTTP/1.1 response that arrives in buffers of any size: status line and headers, then a
 * chunked body. Passes on the body without copying it.
 */
export class ChunkedBody {
  /** Set when the headers are complete. */
  status = 0;
  contentType = "";
  /** True when the response is complete. */
  ended = false;
  #line: Buffer = Buffer.alloc(0);
  #expect: "head" | "size" | "content" | "content-end" | "plain" = "head";
  #left = 0;

  /** Calls back with each part of the body in these bytes. Throws if the bytes are not such a response. */
  feed(bytes: Buffer, onBody: (piece: Buffer) => void): void {
    let rest = bytes;
    while (rest.length > 0 && !this.ended) {
      if (this.#expect === "content" || this.#expect === "plain") {
        const piece = rest.subarray(0, this.#left);
        rest = rest.subarray(piece.length);
        this.#left -= piece.length;
        onBody(piece);
        if (this.#left === 0) this.#contentDone();
        continue;
      }
      const end = rest.indexOf(NEWLINE);
      const part = end < 0 ? rest : rest.subarray(0, end + 1);
      rest = rest.subarray(part.length);
      this.#line = this.#line.length === 0 ? part : Buffer.concat([this.#line, part]);
      if (end >= 0) this.#takeLine();
    }
  }

  #contentDone(): void {
    if (this.#expect === "plain") this.ended = true;
    else this.#expect = "content-end";
  }

  #takeLine(): void {
    const line = this.#line.toString("latin1").trimEnd();
    this.#line = Buffer.alloc(0);
    if (this.#expect === "head") this.#takeHeader(line);
    else if (this.#expect === "content-end") this.#expect = "size";
    else this.#takeSize(line);
  }

  #takeHeader(line: string): void {
    if (this.status === 0) {
      this.status = Number(line.split(" ")[1]);
      return;
    }
    const [name = "", value = ""] = line.toLowerCase().split(": ", 2);
    if (name === "content-type") this.contentType = value;
    if (name === "content-length") this.#left = Number(value);
    if (line !== "") return;
    this.#expect = this.#left > 0 ? "plain" : "size";
  }

  #takeSize(line: string): void {
    const size = Number.parseInt(line, 16);
    if (Number.isNaN(size)) throw new Error("The response is not a chunked body.");
    if (size === 0) this.ended = true;
    this.#left = size;
    this.#expect = "content";
  }
}
