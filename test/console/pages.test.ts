import { request } from "node:http";
import { gzipSync } from "node:zlib";
import { agent, createServer, type ServerOptions } from "palaver";
import { connect } from "palaver/client";
import { afterEach, beforeAll, describe, expect, it } from "vitest";
import { ensureConsole } from "../../scripts/build-console.mjs";
import { SILENT_LOGGER } from "../../src/internal/logger.ts";

interface Answer {
  readonly status: number | undefined;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly body: string;
}

interface Asked {
  readonly method?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
}

const echo = agent({ id: "echo", name: "Echo", description: "d", version: "1", run: async (task) => task.text });
const BROWSER = { accept: "text/html,application/xhtml+xml,*/*;q=0.8" };

let close: (() => Promise<void>) | undefined;
afterEach(() => close?.());

async function serve(options: ServerOptions = {}): Promise<{ readonly url: string; readonly code: string }> {
  const server = createServer(echo, { port: 0, store: "memory:", logger: SILENT_LOGGER, ...options });
  close = server.close;
  const { url, consoleUrl = "" } = await server.listen();
  return { url, code: new URL(consoleUrl || url).hash.slice(1) };
}

/** As `fetch`, but any header can be sent, and redirects are not followed. */
function ask(url: string, { method = "GET", headers = {}, body }: Asked = {}): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const sent = request(url, { method, headers }, (response) => {
      const pieces: Buffer[] = [];
      response.on("data", (piece: Buffer) => pieces.push(piece));
      response.on("end", () =>
        resolve({ status: response.statusCode, headers: response.headers, body: Buffer.concat(pieces).toString() }),
      );
    });
    sent.on("error", reject);
    sent.end(body);
  });
}

beforeAll(() => ensureConsole());

describe("the pages of the console", () => {
  it("are where browsers are sent that open the server or an agent", async () => {
    const { url } = await serve();
    const location = async (path: string): Promise<string> => {
      const { status, headers } = await ask(url + path, { headers: BROWSER });
      expect(status).toBe(302);
      return new URL(String(headers["location"]), url + path).pathname;
    };
    expect(await location("/")).toBe("/console/");
    expect(await location("/agents/echo")).toBe("/console/agents/echo");
    expect(await location("/agents/echo/")).toBe("/console/agents/echo");
  });

  it.each([{}, { accept: "*/*" }, { accept: "application/json" }])(
    "change nothing for programs with %j",
    async (headers) => {
      const { url } = await serve();
      const { url: without } = await serveToo();
      for (const path of ["/", "/agents/echo", "/agents/nobody", "/tasks", "/nothing"]) {
        const [on, off] = await Promise.all([ask(url + path, { headers }), ask(without + path, { headers })]);
        expect([on.status, on.body, on.headers["allow"]]).toEqual([off.status, off.body, off.headers["allow"]]);
      }
      await closeToo?.();
    },
  );

  it("change nothing for browsers that open an API path or an agent that does not exist", async () => {
    const { url } = await serve();
    expect((await ask(`${url}/agents/nobody`, { headers: BROWSER })).status).toBe(404);
    expect((await ask(`${url}/.well-known/agent-card.json`, { headers: BROWSER })).status).toBe(200);
    expect((await ask(`${url}/`, { method: "DELETE", headers: BROWSER })).status).toBe(405);
  });

  it("have a strict policy, no inline script, and cannot be framed", async () => {
    const { url } = await serve();
    const { status, headers, body } = await ask(`${url}/console/tasks/some-id`, { headers: BROWSER });
    expect(status).toBe(200);
    const policy = String(headers["content-security-policy"]);
    for (const rule of [
      "default-src 'none'",
      "script-src 'self'",
      "style-src 'self'",
      "connect-src 'self'",
      "frame-src blob:",
      "base-uri 'none'",
    ])
      expect(policy).toContain(rule);
    expect(policy).toContain("frame-ancestors 'none'");
    expect(policy).not.toMatch(/unsafe|\*|https?:/);
    expect(headers["x-content-type-options"]).toBe("nosniff");
    expect(headers["x-frame-options"]).toBe("DENY");
    expect(headers["set-cookie"]).toBeUndefined();
    expect(body).not.toMatch(/<script(?![^>]*\ssrc=)|<style|\sstyle=|\son\w+=/);
  });

  it("load files by relative addresses that exist, whatever the depth of the path", async () => {
    const { url } = await serve();
    for (const path of ["/console", "/console/", "/console/tasks", "/console/agents/echo/chat/some-context"]) {
      const { body } = await ask(url + path);
      const files = Array.from(body.matchAll(/(?:src|href)="([^"]+)"/g), ([, file = ""]) => new URL(file, url + path));
      expect(files.length).toBeGreaterThanOrEqual(3);
      for (const file of files) {
        const answer = await ask(file.href);
        expect([file.pathname, answer.status]).toEqual([file.pathname, 200]);
        expect(answer.headers["cache-control"]).toContain("immutable");
      }
    }
  });

  it("name all code of a page, so that the browser requests it at once", async () => {
    const { url } = await serve();
    const { body } = await ask(`${url}/console/tasks/some-id`);
    const named = Array.from(body.matchAll(/assets\/([^"]+\.js)"/g), ([, file = ""]) => file);
    expect(named.some((file) => file.startsWith("task-page-"))).toBe(true);
    for (const file of named) {
      const { body: code } = await ask(`${url}/console/assets/${file}`);
      for (const [, imported = ""] of code.matchAll(/(?:from|^import|;import)\s*[`"']\.\/([^`"']+)[`"']/g))
        expect(named).toContain(imported);
    }
  });

  it("load at most 60 KB, compressed, for the first page", async () => {
    const { url } = await serve();
    const { body } = await ask(`${url}/console/`);
    let size = gzipSync(body).length;
    for (const [, file = ""] of body.matchAll(/(?:src|href)="([^"]+)"/g)) {
      const { headers } = await ask(new URL(file, `${url}/console/`).href, { headers: { "accept-encoding": "gzip" } });
      size += Number(headers["content-length"]);
    }
    expect(size).toBeGreaterThan(10_000);
    expect(size).toBeLessThan(60_000);
  });

  it("are compressed for browsers that accept it", async () => {
    const { url } = await serve();
    const [, script = ""] = /src="([^"]+)"/.exec((await ask(`${url}/console/`)).body) ?? [];
    const at = new URL(script, `${url}/console/`).href;
    expect((await ask(at, { headers: { "accept-encoding": "gzip, br" } })).headers["content-encoding"]).toBe("gzip");
    expect((await ask(at, { headers: { "accept-encoding": "gzip;q=0" } })).headers["content-encoding"]).toBeUndefined();
    expect((await ask(at)).headers["content-type"]).toContain("text/javascript");
  });

  it("serve no file outside of the build", async () => {
    const { url } = await serve();
    for (const name of ["../../package.json", "..%2f..%2fpackage.json", "manifest.json", "inputs.json", "%00"])
      expect((await ask(`${url}/console/assets/${name}`)).body).not.toMatch(/"(?:name|files|dependencies)"/);
  });

  it("can be turned off, alone or with the operator API", async () => {
    for (const options of [{ console: false }, { operator: false as const }]) {
      const { url, code } = await serve(options);
      expect(code).toBe("");
      expect((await ask(`${url}/console/`, { headers: BROWSER })).status).toBe(404);
      expect((await ask(`${url}/`, { headers: BROWSER })).status).toBe(405);
      await close?.();
    }
  });
});

describe("who may open the console", () => {
  it("is not shown to requests that a proxy forwarded, or with another host name", async () => {
    const { url } = await serve();
    for (const headers of [
      { "x-forwarded-for": "203.0.113.9" },
      { forwarded: "for=203.0.113.9" },
      { host: "agents.test" },
    ]) {
      expect((await ask(`${url}/console/`, { headers })).status).toBe(403);
      expect((await ask(`${url}/`, { headers: { ...BROWSER, ...headers } })).status).toBe(405);
    }
  });

  it("is refused for a name that resolves to this machine (DNS rebinding)", async () => {
    const { url } = await serve();
    expect((await ask(`${url}/console/`, { headers: { host: "evil.example" } })).status).toBe(421);
  });

  it("gets a session for the code, and the session reads the operator API", async () => {
    const { url, code } = await serve();
    const opened = await open(url, { code });
    expect(opened.status).toBe(201);
    const { token } = JSON.parse(opened.body) as { readonly token: string };
    const bearer = { authorization: `Bearer ${token}` };
    expect((await ask(`${url}/operator/v1/server`, { headers: bearer })).status).toBe(200);
    expect((await ask(`${url}/operator/v1/server`)).status).toBe(401);
    expect(
      (await ask(`${url}/operator/v1/server`, { headers: { ...bearer, "x-forwarded-for": "203.0.113.9" } })).status,
    ).toBe(403);
    expect(
      (await ask(`${url}/operator/v1/server`, { headers: { ...bearer, origin: "https://evil.example" } })).status,
    ).toBe(403);
  });

  it("reads the first words of tasks, if it asks for them", async () => {
    const { url, code } = await serve();
    await (await connect(`${url}/agents/echo`)).send([{ text: "x".repeat(300) }, { data: 1 }]);
    const { token } = JSON.parse((await open(url, { code })).body) as { readonly token: string };
    const list = async (query: string): Promise<Answer> =>
      ask(`${url}/operator/v1/tasks${query}`, { headers: { authorization: `Bearer ${token}` } });
    expect(JSON.parse((await list("?text=true")).body).tasks[0].text).toBe(`${"x".repeat(200)}…`);
    expect(JSON.parse((await list("")).body).tasks[0]).not.toHaveProperty("text");
    expect((await list("?text=yes")).status).toBe(400);
  });

  it("gets no session with a wrong code, from another origin, from a form, or through a proxy", async () => {
    const { url, code } = await serve();
    expect((await open(url, { code: "x".repeat(32) })).status).toBe(401);
    expect((await open(url, { code: 1 })).status).toBe(400);
    expect((await open(url, { code }, { origin: "https://evil.example" })).status).toBe(403);
    expect((await open(url, { code }, { "sec-fetch-site": "cross-site" })).status).toBe(403);
    expect((await open(url, { code }, { "x-forwarded-for": "203.0.113.9" })).status).toBe(403);
    expect((await open(url, { code }, { "content-type": "text/plain" })).status).toBe(415);
    const got = await ask(`${url}/operator/v1/console-sessions`);
    expect(got.status).toBe(405);
  });
});

function open(url: string, body: object, headers: Readonly<Record<string, string>> = {}): Promise<Answer> {
  return ask(`${url}/operator/v1/console-sessions`, {
    method: "POST",
    headers: { "content-type": "application/json", ...headers },
    body: JSON.stringify(body),
  });
}

let closeToo: (() => Promise<void>) | undefined;
/** A second server at the same time, without a console. */
async function serveToo(): Promise<{ readonly url: string }> {
  const server = createServer(echo, { port: 0, store: "memory:", logger: SILENT_LOGGER, console: false });
  closeToo = server.close;
  return server.listen();
}
