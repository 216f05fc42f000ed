import { expect, it } from "vitest";
import { describeFaces, type Site, testAgent } from "../test/faces.ts";

const PATH = "/.well-known/agent-card.json";

interface Read {
  readonly status: number;
  readonly etag: string;
  readonly vary: string;
  readonly text: string;
}

async function read(site: Site, headers: Record<string, string> = {}, path = PATH): Promise<Read> {
  const response = await site.request(path, { headers });
  const { status } = response;
  const header = (name: string): string => response.headers.get(name) ?? "";
  if (status === 200) expect(header("content-type")).toBe("application/json");
  expect(header("cache-control")).toBe("public, max-age=300");
  return { status, etag: header("etag"), vary: header("vary"), text: await response.text() };
}

describeFaces("An agent's card", (open, face) => {
  it("has the format of the reader's version, each with its own ETag", async () => {
    const site = await open();
    const open1_0 = await read(site, { "a2a-version": "1.0" });
    const open0_3 = await read(site, { "a2a-version": "0.3" });
    const hybrid = await read(site);
    expect(JSON.parse(open1_0.text)).toMatchObject({ name: "Echo", supportedInterfaces: expect.any(Array) });
    expect(JSON.parse(open1_0.text)).not.toHaveProperty("protocolVersion");
    expect(JSON.parse(open0_3.text)).toMatchObject({ name: "Echo", url: "http://agents.example/a2a" });
    expect(JSON.parse(open0_3.text)).not.toHaveProperty("supportedInterfaces");
    expect(JSON.parse(hybrid.text)).toMatchObject({ url: expect.any(String), supportedInterfaces: expect.any(Array) });
    expect(new Set([open1_0.etag, open0_3.etag, hybrid.etag]).size).toBe(3);
    for (const { vary } of [open1_0, open0_3, hybrid]) expect(vary).toBe("A2A-Version");
  });

  it("may be requested with the version in the query, with a patch version, or with an unknown version", async () => {
    const site = await open();
    const open0_3 = await read(site, { "a2a-version": "0.3" });
    expect(await read(site, {}, `${PATH}?A2A-Version=0.3`)).toEqual(open0_3);
    expect(await read(site, { "a2a-version": "0.3.0" })).toEqual(open0_3);
    expect(await read(site, { "a2a-version": "7.0" })).toEqual(await read(site));
  });

  it("contains only members of the newest version if earlier ones are off", async () => {
    const site = await open({ dialects: { card: "strict" } });
    expect((await read(site)).text).toBe((await read(site, { "a2a-version": "1.0" })).text);
    expect(JSON.parse((await read(site, { "a2a-version": "0.3" })).text)).toHaveProperty("url");
  });

  it("is answered with 304 by If-Modified-Since, unless If-None-Match differs", async () => {
    const site = await open();
    const { headers } = await site.request(PATH);
    const modified = headers.get("last-modified") ?? "";
    expect(new Date(modified).toUTCString()).toBe(modified);
    const statusOf = async (known: Record<string, string>): Promise<number> => (await read(site, known)).status;
    const earlier = new Date(Date.parse(modified) - 1000).toUTCString();
    expect(await statusOf({ "if-modified-since": modified })).toBe(304);
    expect(await statusOf({ "if-modified-since": earlier })).toBe(200);
    expect(await statusOf({ "if-modified-since": "some day" })).toBe(200);
    expect(await statusOf({ "if-modified-since": modified, "if-none-match": '"other"' })).toBe(200);
  });

  it("is answered with 304 only to readers with the ETag of the same variant", async () => {
    const site = await open();
    const known = await read(site, { "a2a-version": "1.0" });
    for (const tag of [known.etag, `W/${known.etag}`, `"other", ${known.etag}`, "*"]) {
      const again = await read(site, { "a2a-version": "1.0", "if-none-match": tag });
      expect(again).toEqual({ ...known, status: 304, text: "" });
    }
    expect((await read(site, { "if-none-match": known.etag })).status).toBe(200);
  });

  it("supports HEAD, and may be read by every web page", async () => {
    const site = await open();
    const { etag } = await read(site);
    const head = await site.request(PATH, { method: "HEAD", headers: { origin: "https://page.example" } });
    expect(head.headers.get("etag")).toBe(etag);
    expect(head.headers.get("access-control-allow-origin")).toBe("*");
    expect(await head.text()).toBe("");
    const preflight = await site.request(PATH, {
      method: "OPTIONS",
      headers: {
        origin: "https://page.example",
        "access-control-request-method": "GET",
        "access-control-request-headers": "a2a-version",
      },
    });
    expect(preflight.status).toBe(204);
    expect(preflight.headers.get("access-control-allow-origin")).toBe("*");
    expect(preflight.headers.get("access-control-allow-headers")).toMatch(/a2a-version/i);
  });

  it("exists for each agent, and at the root for the first", async () => {
    const site = await open({ agents: [testAgent(), testAgent({ id: "second", name: "Second" })] });
    const urls = async (path: string): Promise<unknown> => JSON.parse((await read(site, {}, path + PATH)).text);
    expect(await urls("")).toMatchObject({ name: "Echo", url: "http://agents.example/a2a" });
    expect(await urls("/agents/echo")).toMatchObject({ name: "Echo", url: "http://agents.example/agents/echo/a2a" });
    expect(await urls("/agents/second")).toMatchObject({
      name: "Second",
      url: "http://agents.example/agents/second/a2a",
      supportedInterfaces: expect.arrayContaining([
        expect.objectContaining({ url: "http://agents.example/agents/second/" }),
      ]),
    });
  });

  it("contains the URL that a trusted proxy reports", async () => {
    const forwarded = { "x-forwarded-proto": "https", "x-forwarded-host": "public.example" };
    const url = async (site: Site, headers: Record<string, string>): Promise<unknown> => {
      const { text, vary, etag } = await read(site, headers);
      return { url: (JSON.parse(text) as { url: string }).url, vary, etag };
    };
    const trusting = await open({ publicUrl: () => "http://localhost:3000", trustedProxies: ["loopback"] });
    const inner = { url: "http://localhost:3000/a2a", vary: expect.stringMatching(/^A2A-Version, Forwarded, X-Forw/) };
    // A request without a peer address did not come through a proxy.
    const outer = face === "node" ? { ...inner, url: "https://public.example/a2a" } : inner;
    expect(await url(trusting, {})).toMatchObject(inner);
    expect(await url(trusting, forwarded)).toMatchObject(outer);
    expect(await url(trusting, { ...forwarded, "x-forwarded-host": "evil.example/" })).toMatchObject(inner);
    const wary = await open({ publicUrl: () => "http://localhost:3000" });
    expect(await url(wary, forwarded)).toMatchObject({ url: "http://localhost:3000/a2a", vary: "A2A-Version" });
  });
});

describeFaces("An agent's card at its former address", (open) => {
  const FORMER = "/.well-known/agent.json";

  it("is readable by clients of every version before 1.0", async () => {
    const site = await open({ agents: [testAgent(), testAgent({ id: "second", name: "Second" })] });
    const shared = await read(site, {}, FORMER);
    expect(JSON.parse(shared.text)).toMatchObject({
      name: "Echo",
      url: "http://agents.example/a2a",
      protocolVersion: expect.stringMatching(/^0\.3/),
      preferredTransport: "JSONRPC",
    });
    expect(JSON.parse(shared.text)).not.toHaveProperty("supportedInterfaces");
    const own = await read(site, { "a2a-version": "0.2" }, FORMER);
    expect(JSON.parse(own.text)).toMatchObject({ protocolVersion: expect.stringMatching(/^0\.2/) });
    const earliest = await read(site, { "a2a-version": "0.1" }, FORMER);
    expect(JSON.parse(earliest.text)).not.toHaveProperty("protocolVersion");
    expect(new Set([shared.etag, own.etag, earliest.etag]).size).toBe(3);
    for (const { vary } of [shared, own, earliest]) expect(vary).toBe("A2A-Version");
    const second = await read(site, {}, `/agents/second${FORMER}`);
    expect(JSON.parse(second.text)).toMatchObject({ name: "Second", url: "http://agents.example/agents/second/a2a" });
  });

  it("has its own ETag, may be read by every web page, and supports only GET", async () => {
    const site = await open();
    const { etag } = await read(site, {}, FORMER);
    expect(etag).not.toBe((await read(site)).etag);
    expect((await read(site, { "if-none-match": etag }, FORMER)).status).toBe(304);
    const response = await site.request(FORMER, { headers: { origin: "https://page.example" } });
    expect(response.headers.get("access-control-allow-origin")).toBe("*");
    expect((await site.request(FORMER, { method: "POST" })).status).toBe(405);
  });

  it("does not exist if no version is served whose clients request it", async () => {
    const site = await open({ dialects: { versions: ["1.0"] } });
    expect((await site.request(FORMER)).status).toBe(404);
    expect((await site.request(PATH)).status).toBe(200);
  });
});

describeFaces("An authenticator", (open, face) => {
  it("receives the caller's own address from a trusted proxy", async () => {
    const seen: (string | undefined)[] = [];
    const authenticate = ({ remote }: { readonly remote: string | undefined }): undefined => void seen.push(remote);
    const headers = { "x-forwarded-for": "198.51.100.1, 203.0.113.9" };
    const trusting = await open({ authenticate, trustedProxies: ["loopback"] });
    await trusting.post("GetTask", { id: "x" }, headers);
    const wary = await open({ authenticate });
    await wary.post("GetTask", { id: "x" }, headers);
    expect(seen).toEqual(face === "node" ? ["203.0.113.9", "127.0.0.1"] : [undefined, undefined]);
  });
});
