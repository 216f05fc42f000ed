import { once } from "node:events";
import { connect } from "node:net";
import { text } from "node:stream/consumers";
import { afterEach, describe, expect, it } from "vitest";
import { Listener } from "./listener.ts";

const open = new Set<Listener>();
afterEach(async () => {
  for (const listener of open) await listener.close();
  open.clear();
});

/** Sends this text on a connection and nothing more. Returns the response. */
async function responseTo(port: number, sent: string): Promise<string> {
  const socket = connect(port, "127.0.0.1");
  await once(socket, "connect");
  socket.write(sent);
  return text(socket);
}

describe("A listener", () => {
  it("answers 408 to slow headers and bodies, and serves other requests", async () => {
    let handled = 0;
    const listener = new Listener(
      (request, response) => {
        handled += 1;
        request.resume();
        request.on("end", () => response.end("read"));
      },
      { head: 100, whole: 300 },
    );
    open.add(listener);
    const { port, url } = await listener.listen("127.0.0.1", 0);
    const slowHead = responseTo(port, "POST / HTTP/1.1\r\nhost: x\r\n");
    const slowBody = responseTo(port, "POST / HTTP/1.1\r\nhost: x\r\ncontent-length: 10\r\n\r\nhalf");
    const silent = responseTo(port, "");
    expect(await (await fetch(url, { method: "POST", body: "whole" })).text()).toBe("read");
    expect(await slowHead).toMatch(/^HTTP\/1\.1 408 /);
    expect(await slowBody).toMatch(/^HTTP\/1\.1 408 /);
    expect(await silent).toMatch(/^(HTTP\/1\.1 408 |$)/);
    expect(handled).toBe(2);
  });

  it("does not limit the time of a response", async () => {
    const listener = new Listener(
      (_request, response) => {
        response.write("begun,");
        setTimeout(() => response.end("done"), 1500);
      },
      { head: 100, whole: 200 },
    );
    open.add(listener);
    const { url } = await listener.listen("127.0.0.1", 0);
    expect(await (await fetch(url)).text()).toBe("begun,done");
  });
});
