import { describe, expect, it } from "vitest";
import { exchange } from "./http.ts";
import type { HttpRequest } from "./http-request.ts";
import { senderOf } from "./send.ts";

const request = (headers: Record<string, string>, more: Partial<HttpRequest> = {}): HttpRequest => ({
  method: "GET",
  url: new URL("https://one.example/card"),
  headers: new Headers(headers),
  signal: new AbortController().signal,
  ...more,
});

/** Answers by URL and records the requests. */
function scripted(answers: Readonly<Record<string, () => Response>>): {
  fetch: typeof fetch;
  seen: [string, Headers][];
} {
  const seen: [string, Headers][] = [];
  return {
    seen,
    fetch: async (input, init) => {
      const url = String(input instanceof Request ? input.url : input);
      seen.push([url, new Headers(init?.headers)]);
      return answers[url]?.() ?? new Response("", { status: 404 });
    },
  };
}

const redirect = (location: string) => () => new Response(null, { status: 302, headers: { location } });
const allowAll = async (): Promise<void> => {};

/** The response of browsers to `redirect: "manual"`: it hides the target. */
function opaque(): Response {
  return Object.defineProperty(new Response(null), "type", { value: "opaqueredirect" });
}

describe("A redirect", () => {
  it("to another origin keeps only headers that cannot be credentials", async () => {
    const { fetch, seen } = scripted({
      "https://one.example/card": redirect("https://two.example/card"),
      "https://two.example/card": () => new Response("{}"),
    });
    const headers = { authorization: "Bearer s", "x-api-key": "s", cookie: "s=1", "a2a-version": "1.0", accept: "a/b" };
    await exchange({ send: senderOf({ fetch }), guard: allowAll }, request(headers, { isPublic: true }));
    expect([...(seen[1]?.[1] ?? [])]).toEqual([
      ["a2a-version", "1.0"],
      ["accept", "a/b"],
    ]);
  });

  it("within the origin keeps all headers", async () => {
    const { fetch, seen } = scripted({
      "https://one.example/card": redirect("/elsewhere"),
      "https://one.example/elsewhere": () => new Response("{}"),
    });
    await exchange({ send: senderOf({ fetch }), guard: allowAll }, request({ "x-api-key": "s" }));
    expect(seen[1]?.[1].get("x-api-key")).toBe("s");
  });

  it("to an invalid URL is refused with that URL", async () => {
    const { fetch } = scripted({ "https://one.example/card": redirect("https://[") });
    await expect(exchange({ send: senderOf({ fetch }), guard: allowAll }, request({}))).rejects.toMatchObject({
      code: "blocked-url",
    });
  });

  it.each(["http://one.example/card", "data:application/json,{}", "https://user:word@two.example/"])(
    "of a public document to %s is refused",
    async (location) => {
      const { fetch, seen } = scripted({ "https://one.example/card": redirect(location) });
      const sent = exchange({ send: senderOf({ fetch }), guard: undefined }, request({}, { isPublic: true }));
      await expect(sent).rejects.toMatchObject({ code: "blocked-url" });
      expect(seen).toHaveLength(1);
    },
  );
});

describe("A redirect in a browser, which does not reveal its target", () => {
  const inBrowser = (url: string): { fetch: typeof fetch; sent: RequestInit[] } => {
    const sent: RequestInit[] = [];
    return {
      sent,
      fetch: async (_input, init = {}) => {
        sent.push(init);
        if (init.redirect === "manual") return opaque();
        return Object.defineProperty(new Response("{}"), "url", { value: url });
      },
    };
  };

  it("is followed by the browser for a public document, without headers that may be credentials", async () => {
    const { fetch, sent } = inBrowser("https://two.example/card");
    await exchange(
      { send: senderOf({ fetch }), guard: undefined },
      request({ "x-api-key": "s", accept: "a/b" }, { isPublic: true }),
    );
    expect(sent).toHaveLength(2);
    expect([...new Headers(sent[1]?.headers)]).toEqual([["accept", "a/b"]]);
  });

  it("is refused if it ends at an unencrypted URL", async () => {
    const { fetch } = inBrowser("http://two.example/card");
    const asked = exchange({ send: senderOf({ fetch }), guard: undefined }, request({}, { isPublic: true }));
    await expect(asked).rejects.toMatchObject({ code: "blocked-url" });
  });

  it.each<[string, Partial<HttpRequest>, typeof allowAll | undefined]>([
    ["any other GET", {}, undefined],
    ["a request with a body", { method: "POST", body: "{}" }, undefined],
    ["a public document of a guarded client", { isPublic: true }, allowAll],
  ])("is refused for %s", async (_what, more, guard) => {
    const { fetch, sent } = inBrowser("https://two.example/card");
    const asked = exchange({ send: senderOf({ fetch }), guard }, request({}, more));
    await expect(asked).rejects.toMatchObject({ code: "blocked-url" });
    expect(sent).toHaveLength(1);
  });
});
