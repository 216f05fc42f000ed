import { once } from "node:events";
import { createServer as createHttpServer, type Server as HttpServer, request } from "node:http";
import type { AddressInfo } from "node:net";
import { agent, createServer, type Server } from "palaver";
import { connect } from "palaver/client";
import type { Browser } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { ensureConsole } from "../../scripts/build-console.mjs";
import { findChromium } from "../../scripts/ensure-chromium.mjs";
import { SILENT_LOGGER } from "../../src/internal/logger.ts";
import { type Inspector, inspectAgent } from "../../src/platform/console/inspect-agent.ts";
import { launchBrowser } from "../browser/web-page.ts";
import { order } from "./agents.ts";

const chromium = findChromium();
const mustRun = process.env["CHROMIUM_REQUIRED"] === "1";

interface Answer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly body: string;
}

interface Asked {
  readonly method?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
}

/** With any `Host`, as no browser would send it. */
function ask(url: string, { method = "GET", headers = {}, body = "" }: Asked = {}): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const outgoing = request(url, { method, headers, agent: false }, (response) => {
      let text = "";
      response.setEncoding("utf8").on("data", (chunk: string) => (text += chunk));
      response.on("end", () => resolve({ status: response.statusCode ?? 0, headers: response.headers, body: text }));
    });
    outgoing.on("error", reject).end(body);
  });
}

const JSON_TYPE = { "content-type": "application/json" };

/** A site of an attacker. Its pages say in their title what came out of the attack. */
function serveSite(
  pages: Readonly<Record<string, string>>,
): Promise<{ readonly site: HttpServer; readonly url: string }> {
  const site = createHttpServer((incoming, response) => {
    response.setHeader("content-type", "text/html");
    response.end(pages[incoming.url ?? ""] ?? "");
  });
  site.listen(0, "127.0.0.1");
  return once(site, "listening").then(() => ({
    site,
    // Another site than 127.0.0.1 for the browser.
    url: `http://localhost:${(site.address() as AddressInfo).port}`,
  }));
}

describe("the process of palaver console URL", () => {
  let agent: HttpServer;
  let inspector: Inspector;
  let token = "";
  const received: string[] = [];
  const forwarded = (body: object, headers: Readonly<Record<string, string>> = {}): Promise<Answer> =>
    ask(`${inspector.url}/operator/v1/forward`, {
      method: "POST",
      headers: { ...JSON_TYPE, authorization: `Bearer ${token}`, ...headers },
      body: JSON.stringify({ method: "GET", headers: {}, ...body }),
    });
  beforeAll(async () => {
    agent = createHttpServer((incoming, response) => {
      received.push(`${incoming.method} ${incoming.url} ${JSON.stringify(incoming.headers)}`);
      response.setHeader("set-cookie", "stolen=1");
      response.setHeader("content-type", "text/html");
      response.end("<script>alert(1)</script>");
    });
    agent.listen(0, "127.0.0.1");
    await once(agent, "listening");
    inspector = await inspectAgent({ agent: `http://127.0.0.1:${(agent.address() as AddressInfo).port}/` });
    const code = new URL(inspector.consoleUrl).hash.slice(1);
    const opened = await ask(`${inspector.url}/operator/v1/console-sessions`, {
      ...{ method: "POST", headers: JSON_TYPE, body: JSON.stringify({ code }) },
    });
    ({ token } = JSON.parse(opened.body));
  });
  afterAll(async () => {
    await inspector.close();
    agent.close();
  });
  const target = (): string => `http://127.0.0.1:${(agent.address() as AddressInfo).port}/x`;

  it("forwards only with its own session, from its own page, on this machine", async () => {
    expect((await forwarded({ url: target() })).status).toBe(200);
    const refusals = await Promise.all([
      forwarded({ url: target() }, { authorization: "Bearer plc_0.x" }),
      forwarded({ url: target() }, { origin: "https://evil.example" }),
      forwarded({ url: target() }, { "sec-fetch-site": "cross-site" }),
      forwarded({ url: target() }, { "x-forwarded-for": "203.0.113.9" }),
      forwarded({ url: target() }, { "content-type": "text/plain" }),
      forwarded({ url: target() }, { host: "rebound.evil.example" }),
      ask(`${inspector.url}/operator/v1/forward`, { headers: { authorization: `Bearer ${token}` } }),
    ]);
    expect(refusals.map(({ status }) => status)).toEqual([401, 403, 403, 403, 415, 421, 405]);
  });

  it.each([
    ["the metadata service of a cloud", "http://169.254.169.254/latest/meta-data"],
    ["another port of this machine", "http://127.0.0.1:1/"],
    ["an address of the internal network", "http://10.1.2.3:3000/"],
    ["a name of the internal network", "http://db.internal:3000/"],
    ["a file", "file:///etc/passwd"],
    ["an address with a password", "http://user:pass@127.0.0.1:1/"],
  ])("does not reach %s, whatever the card of the agent names", async (_what, url) => {
    const { status, headers, body } = await forwarded({ url });
    expect([status, headers["x-forward-failed"]]).toEqual([502, "1"]);
    expect(body).toMatch(/not allowed|not a valid/);
  });

  it("gives the page an answer that no browser shows, without cookies", async () => {
    const { headers, body } = await forwarded({ url: target() });
    expect(body).toContain("<script>");
    expect(headers).toMatchObject({
      "content-disposition": "attachment",
      "x-content-type-options": "nosniff",
      "content-security-policy": expect.stringContaining("default-src 'none'"),
    });
    expect(headers["set-cookie"]).toBeUndefined();
  });

  it("passes on neither the session nor headers that name the page, and refuses headers with line breaks", async () => {
    received.length = 0;
    await forwarded({ url: target(), headers: { Cookie: "a=1", Origin: "x", Host: "y", "x-own": "z" } });
    expect(received.join()).toContain('"x-own":"z"');
    expect(received.join()).not.toMatch(/plc_|cookie|"origin"/);
    expect((await forwarded({ url: target(), headers: { "x-own": "a\r\nb: c" } })).status).toBe(400);
    expect((await forwarded({ url: target(), method: "TRACE" })).status).toBe(400);
  });

  it("writes the URL of the agent as text into the page", async () => {
    const hostile = await inspectAgent({ agent: `http://127.0.0.1:1/"><script>alert(1)</script>` });
    const { body } = await ask(`${hostile.url}/console/`);
    await hostile.close();
    expect(body).not.toContain("<script>alert");
  });
});

/** Returns the message as a file in HTML. */
const page = agent({
  ...{ id: "page", name: "Page", description: "Makes pages.", version: "1.0.0" },
  run: (task) =>
    task.artifact("page").end({
      file: { name: "page.html", mediaType: "text/html", bytes: new TextEncoder().encode(task.text) },
    }),
});

describe.skipIf(chromium === undefined && !mustRun)("pages of other sites", () => {
  let browser: Browser;
  let server: Server;
  let [url, consoleUrl] = ["", ""];
  beforeAll(async () => {
    if (chromium === undefined) throw new Error("CHROMIUM_REQUIRED is set, but no Chromium was found.");
    await ensureConsole();
    browser = await launchBrowser(chromium);
    server = createServer([order, page], { port: 0, store: "memory:", logger: SILENT_LOGGER, drainTimeout: 0 });
    ({ url, consoleUrl = "" } = await server.listen());
  });
  afterAll(async () => {
    await browser?.close();
    await server?.close();
  });

  it("cannot frame the console, read it, answer in it, or learn its token", async () => {
    const sent = await (await connect(`${url}/agents/order`)).send("Hello");
    const id = sent.kind === "task" ? sent.task.id : "";
    const context = await browser.newContext();
    const own = await context.newPage();
    await own.goto(consoleUrl);
    await own.locator(".tile").first().waitFor();
    const token = await own.evaluate<string>("sessionStorage.getItem('palaver-console-session')");
    expect(token).toMatch(/^plc_/);
    expect(await own.evaluate<string>("JSON.stringify(localStorage) + document.cookie + location.href")).not.toContain(
      "plc_",
    );
    const attack = `
      const answer = (init) => fetch("${url}/operator/v1/tasks/${id}/answer", { method: "POST", ...init }).then(
        (response) => "answered " + response.status, () => "refused");
      addEventListener("load", async () => {
        const results = [
          await answer({ body: '{"text":"forged"}', headers: { "content-type": "text/plain" }, credentials: "include" }),
          await answer({ body: '{"text":"forged"}', headers: { "content-type": "application/json" } }),
          await fetch("${url}/operator/v1/tasks").then((r) => r.text(), () => "refused"),
        ];
        let framed = "framed";
        try { framed = document.querySelector("iframe").contentDocument === null ? "closed" : "open"; } catch { framed = "closed"; }
        document.title = "done " + results.join(", ") + ", " + framed;
      });`;
    const { site, url: evil } = await serveSite({
      "/": `<iframe src="${url}/console/"></iframe><form action="${url}/operator/v1/tasks/${id}/cancel" method="post"></form><script>${attack}</script>`,
    });
    try {
      const page = await context.newPage();
      const blocked: string[] = [];
      page.on("console", (message) => blocked.push(message.text()));
      await page.goto(evil);
      await expect.poll(() => page.title(), { timeout: 30_000 }).toMatch(/^done/);
      expect(await page.title()).toBe("done refused, refused, refused, closed");
      expect(blocked.join("\n")).toMatch(/frame-ancestors|X-Frame-Options/i);
      // A form can send a request, but not one that is accepted.
      await page.evaluate("document.forms[0].submit()");
      await page.waitForTimeout(500);
    } finally {
      site.close();
    }
    const task = await (await connect(`${url}/agents/order`)).task(id).get();
    expect(task.status.state).toBe("input-required");
    expect(JSON.stringify(task)).not.toContain("forged");
    await context.close();
  });

  it("are not reached by the preview of a page that an agent has made, which runs nothing", async () => {
    const asked: string[] = [];
    const site = createHttpServer((incoming, response) => {
      asked.push(incoming.url ?? "");
      response.setHeader("access-control-allow-origin", "*").end();
    }).listen(0, "127.0.0.1");
    await once(site, "listening");
    const evil = `http://localhost:${(site.address() as AddressInfo).port}`;
    const attack = [
      `<h1>Report</h1><script>parent.attacked = top.attacked = 1; fetch("${evil}/fetch")</script>`,
      `<img src="${evil}/picture" onerror="top.attacked = 2"><link rel="stylesheet" href="${evil}/style">`,
      `<iframe src="${evil}/frame"></iframe><object data="${evil}/object"></object><base href="${evil}/">`,
      `<a href="${evil}/link">Link</a> <a href="${evil}/top" target="_top">Top</a> <a href="${evil}/new" target="_blank">New</a>`,
      `<form action="${evil}/form"><button>Send</button></form>`,
    ].join("\n");
    const context = await browser.newContext();
    const own = await context.newPage();
    try {
      await own.goto(`${url}/console/agents/page/chat${new URL(consoleUrl).hash}`);
      await own.getByLabel("Message to Page").fill(attack);
      await own.getByRole("button", { name: "Send" }).click();
      await own.getByRole("button", { name: "Preview" }).click();
      const frame = own.frameLocator("iframe");
      await frame.getByRole("heading", { name: "Report" }).waitFor();
      for (const name of ["Top", "New"]) await frame.getByRole("link", { name }).click();
      await frame.getByRole("button", { name: "Send" }).click();
      // The last one: the frame is empty afterwards.
      await frame.getByRole("link", { name: "Link" }).click();
      await own.waitForTimeout(200);
      expect(asked).toEqual([]);
      expect(await own.evaluate<unknown>("globalThis.attacked")).toBeUndefined();
      expect(new URL(own.url()).origin).toBe(url);
      expect(context.pages()).toHaveLength(1);
    } finally {
      await context.close();
      site.close();
    }
  });
});
