import type { Browser } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { ensureConsole } from "../../scripts/build-console.mjs";
import { findChromium } from "../../scripts/ensure-chromium.mjs";
import { type Inspector, inspectAgent } from "../../src/platform/console/inspect-agent.ts";
import { launchBrowser } from "../browser/web-page.ts";
import type { OfficialServer } from "../remote-peers/server-line.ts";
import { SERVERS } from "../remote-peers/servers.ts";
import { keepPicture, watch } from "./console-page.ts";

const chromium = findChromium();
const mustRun = process.env["CHROMIUM_REQUIRED"] === "1";

describe.skipIf(chromium === undefined && !mustRun)("palaver console URL, with official servers", () => {
  let browser: Browser;
  beforeAll(async () => {
    if (chromium === undefined) throw new Error("CHROMIUM_REQUIRED is set, but no Chromium was found.");
    await ensureConsole();
    browser = await launchBrowser(chromium);
  });
  afterAll(() => browser?.close());

  it.each(SERVERS.map((line) => [line.version, line] as const))(
    "official server %s: card, chat, task and raw wire",
    async (name, line) => {
      let server: OfficialServer | undefined;
      let inspector: Inspector | undefined;
      try {
        server = await line.start({ binding: "JSONRPC" });
        inspector = await inspectAgent({ agent: server.url });
        const { page, faults } = await watch(browser, inspector.consoleUrl);
        await page.getByRole("heading", { name: "Interfaces" }).waitFor();
        expect(await page.locator(".rows tbody tr").count()).toBeGreaterThan(0);
        await keepPicture(page, `inspect-${name.replace(/\W+/g, "-")}-card`);
        await page.getByRole("navigation", { name: "Pages", exact: true }).getByRole("link", { name: "Chat" }).click();
        await page.getByLabel(/^Message to /).fill("echo hello");
        await page.keyboard.press("Enter");
        await page.locator(".turn.agent .state.completed").waitFor();
        await page.getByRole("button", { name: "Wire" }).first().click();
        const wire = page.getByRole("complementary", { name: "Wire" });
        expect(await wire.locator(".call").count()).toBeGreaterThan(1);
        // The request goes to the agent's own address, and can be repeated elsewhere.
        expect(await wire.locator("footer pre").textContent()).toContain(`curl -sN ${server.url}`);
        await keepPicture(page, `inspect-${name.replace(/\W+/g, "-")}-chat`);
        await page.locator(".turn.agent .meta a").first().click();
        await page.getByRole("heading", { name: "Artifacts" }).waitFor();
        await page.locator("h1 .state.completed").waitFor();
        expect(await page.locator(".artifacts").textContent()).toContain("hello");
        await page.getByRole("button", { name: "Wire" }).click();
        expect(await page.locator(".wire .call").count()).toBeGreaterThan(0);
        await keepPicture(page, `inspect-${name.replace(/\W+/g, "-")}-task`);
        await page.context().close();
        // Cards of early versions are at another address, which is asked second.
        expect(faults.filter((fault) => !fault.includes("404"))).toEqual([]);
      } finally {
        await inspector?.close();
        await server?.close();
      }
    },
    60_000,
  );
});
