import { join } from "node:path";
import { type Agent, agent } from "palaver";
import type { Browser } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { findChromium } from "../../scripts/ensure-chromium.mjs";
import { openSite, type Site } from "../client/own-server.ts";
import { CuttingProxy } from "../e2e/cutting-proxy.ts";
import { bundleForBrowser } from "./bundle.ts";
import { launchBrowser, openPage, type WebPage } from "./web-page.ts";

const ROOT = join(import.meta.dirname, "../..");
const CHUNKS = 400;
const CUTS = 5;
const chromium = findChromium();
const mustRun = process.env["CHROMIUM_REQUIRED"] === "1";
if (chromium === undefined && !mustRun) {
  console.warn("The browser tests are skipped: no Chromium found. Install Chromium or set CHROMIUM_PATH.");
}

describe("the browser bundle of the client", () => {
  it("imports no Node module", async () => {
    // gRPC asks the runtime for `node:http2`, and does without where there is none.
    const withoutQuestion = (await bundleForBrowser(join(ROOT, "src/client.ts"))).replace(
      'getBuiltinModule("node:http2")',
      "",
    );
    expect(withoutQuestion).not.toMatch(/["']node:/);
  });

  it("cannot be built from an entry that imports a Node module", async () => {
    await expect(bundleForBrowser(join(ROOT, "src/index.ts"))).rejects.toThrow("which browsers do not have");
  });
});

describe.skipIf(chromium === undefined && !mustRun)("the client in a web page of another origin", () => {
  let browser: Browser;
  let page: WebPage;
  let site: Site;

  beforeAll(async () => {
    if (chromium === undefined) throw new Error("CHROMIUM_REQUIRED is set, but no Chromium was found.");
    const code = await bundleForBrowser(join(import.meta.dirname, "program.ts"));
    browser = await launchBrowser(chromium);
    page = await openPage(browser, code);
    site = await openSite(undefined, { corsOrigins: [page.origin] });
  });
  afterAll(async () => {
    await page?.close();
    await browser?.close();
    await site?.close();
  });

  it("connects and sends", async () => {
    expect(await page.run("send", site.url, "größer 🌊")).toBe("You said größer 🌊");
  });

  it("streams every chunk once and in order, although the connection is cut", async () => {
    const counting = await openSite(countOnRequest(), { corsOrigins: [page.origin] });
    const proxy: CuttingProxy = await CuttingProxy.start(counting.url, () =>
      proxy.cuts < CUTS ? 8000 : Number.POSITIVE_INFINITY,
    );
    try {
      const { chunks, states } = await page.run("stream", counting.url, proxy.url, String(CHUNKS));
      expect(proxy.cuts).toBe(CUTS);
      expect(chunks.join("")).toBe(Array.from({ length: CHUNKS }, (_, index) => `${index + 1} `).join(""));
      expect(states.at(-1)).toBe("completed");
    } finally {
      await proxy.close();
      await counting.close();
    }
  });

  it("subscribes to a running task and sees it canceled", async () => {
    const { states } = await page.run("subscribe", site.url, "hang");
    expect(states.at(-1)).toBe("canceled");
  });

  it("reports a failed task and an unknown task", async () => {
    expect(await page.run("state", site.url, "fail")).toBe("failed");
    expect(await page.run("unknownTask", site.url)).toBe("task-not-found");
  });

  it("gets no response from a server that does not allow its origin", async () => {
    const closed = await openSite(undefined, { corsOrigins: ["https://elsewhere.example"] });
    try {
      expect(await page.run("refusedSend", closed.url)).toBe("outcome-unknown");
    } finally {
      await closed.close();
    }
  });
});

/**
 * Counts to the number in the message; after 1 it waits until the test sends "go". A browser discards unread data when
 * a connection is reset, so the first cut must wait until the page knows its task.
 */
function countOnRequest(): Agent {
  const { promise: requested, resolve: go } = Promise.withResolvers<void>();
  return agent({
    id: "count",
    name: "Count",
    description: "Counts.",
    version: "1.0.0",
    async *run(task) {
      if (task.text === "go") return go();
      yield "1 ";
      await requested;
      for (let index = 2; index <= Number(task.text); index++) yield `${index} `;
    },
  });
}
