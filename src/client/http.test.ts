import { describe, expect, it } from "vitest";
import { exchange, type HttpRequest } from "./http.ts";

const request = (headers: Record<string, string>): HttpRequest => ({
  method: "GET",
  url: new URL("https://one.example/card"),
  headers: new Headers(headers),
  signal: new AbortController().signal,
});

/** Answers by URL, and notes what it was asked. */
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

describe("A guarded redirect", () => {
  it("to another origin takes nothing along that may be a key, under whatever name", async () => {
    const { fetch, seen } = scripted({
      "https://one.example/card": redirect("https://two.example/card"),
      "https://two.example/card": () => new Response("{}"),
    });
    const headers = { authorization: "Bearer s", "x-api-key": "s", cookie: "s=1", "a2a-version": "1.0", accept: "a/b" };
    await exchange({ fetch, guard: allowAll }, request(headers));
    expect([...(seen[1]?.[1] ?? [])]).toEqual([
      ["a2a-version", "1.0"],
      ["accept", "a/b"],
    ]);
  });

  it("within the origin takes all along", async () => {
    const { fetch, seen } = scripted({
      "https://one.example/card": redirect("/elsewhere"),
      "https://one.example/elsewhere": () => new Response("{}"),
    });
    await exchange({ fetch, guard: allowAll }, request({ "x-api-key": "s" }));
    expect(seen[1]?.[1].get("x-api-key")).toBe("s");
  });

  it("to what is no address is refused by name", async () => {
    const { fetch } = scripted({ "https://one.example/card": redirect("https://[") });
    await expect(exchange({ fetch, guard: allowAll }, request({}))).rejects.toMatchObject({ code: "blocked-url" });
  });
});
