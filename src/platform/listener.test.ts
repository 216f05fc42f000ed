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

/** What a connection is told on which this is said and nothing more. */
async function hears(port: number, said: string): Promise<string> {
  const socket = connect(port, "127.0.0.1");
  await once(socket, "connect");
  socket.write(said);
  return text(socket);
}

describe("A listener", () => {
  it("does not wait for ever for a head or a body, and goes on serving others", async () => {
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
    const slowHead = hears(port, "POST / HTTP/1.1\r\nhost: x\r\n");
    const slowBody = hears(port, "POST / HTTP/1.1\r\nhost: x\r\ncontent-length: 10\r\n\r\nhalf");
    const silent = hears(port, "");
    expect(await (await fetch(url, { method: "POST", body: "whole" })).text()).toBe("read");
    expect(await slowHead).toMatch(/^HTTP\/1\.1 408 /);
    expect(await slowBody).toMatch(/^HTTP\/1\.1 408 /);
    expect(await silent).toMatch(/^(HTTP\/1\.1 408 |$)/);
    expect(handled).toBe(2);
  });

  it("lets an answer take as long as it likes", async () => {
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
