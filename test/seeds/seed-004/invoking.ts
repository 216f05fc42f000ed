import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { type InvokeOptions, invokeRemoteAgent, type RemoteInvocationResult } from "palaver/client";
import { FakeClock } from "../../../src/testing/fake-clock.ts";

/** A `fetch` over real connections that records its requests. */
export interface Listening {
  readonly fetch: typeof fetch;
  /** `GET /a2a/tasks/1`, oldest first. */
  readonly asked: readonly string[];
}

export function listenIn(): Listening {
  const asked: string[] = [];
  return {
    asked,
    fetch(input, init) {
      const { method, url } = new Request(input, init);
      asked.push(`${method} ${new URL(url).pathname}`);
      return fetch(input, init);
    },
  };
}

/** The same, with every card request refused, so that the client falls back to the plain dialect. */
export function listenWithoutCards(): Listening {
  const { fetch, asked } = listenIn();
  return {
    asked,
    async fetch(input, init) {
      const { pathname } = new URL(new Request(input, init).url);
      return pathname.startsWith("/.well-known/") ? new Response("", { status: 404 }) : fetch(input, init);
    },
  };
}

export interface Invoked {
  readonly result: RemoteInvocationResult;
  /** The time of each poll, in milliseconds after the first request. */
  readonly looks: readonly number[];
  readonly asked: readonly string[];
}

export interface InvokingOptions extends InvokeOptions {
  readonly listening?: Listening;
  /** Called before each poll, with the number of polls so far. */
  readonly beforeLook?: (looks: number) => void | Promise<void>;
}

/** Invokes an agent over real connections. The time between polls passes at once. */
export async function invoking(url: string, message: string, options: InvokingOptions = {}): Promise<Invoked> {
  const { listening = listenIn(), beforeLook, ...more } = options;
  const clock = new FakeClock();
  const began = clock.now();
  let result: RemoteInvocationResult | undefined;
  const done = invokeRemoteAgent(url, message, {
    fetch: listening.fetch,
    clock,
    cache: false,
    // Disables the timeout of single calls, so that the only timers are the total timeout and the next poll.
    timeout: Number.POSITIVE_INFINITY,
    ...more,
  }).then((given) => {
    result = given;
  });
  const looks: number[] = [];
  while (result === undefined) {
    if (clock.pending < 2) await new Promise(setImmediate);
    else {
      await beforeLook?.(looks.length);
      const before = listening.asked.length;
      while (clock.pending === 2 && listening.asked.length === before) await clock.advance(500);
      if (listening.asked.length > before) looks.push(clock.now() - began);
    }
  }
  await done;
  return { result, looks, asked: listening.asked };
}

/** Starts a server that only serves this card. */
export async function serveCard(card: unknown, status = 200): Promise<{ readonly url: string } & AsyncDisposable> {
  const server = createServer((request, response) => {
    const found = request.url === "/.well-known/agent-card.json";
    response.writeHead(found ? status : 404, { "content-type": "application/json" });
    response.end(typeof card === "string" ? card : JSON.stringify(card));
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  // Unchecked cast: the server listens on a port.
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      server.close();
      await once(server, "close");
    },
  };
}
