import { createServer as createReceiver } from "node:http";
import type { AddressInfo } from "node:net";
import { agent, createServer, type Server, skill } from "palaver";
import { connect } from "palaver/client";
import type { Browser, Page } from "playwright-core";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { z } from "zod";
import { ensureConsole } from "../../scripts/build-console.mjs";
import { findChromium } from "../../scripts/ensure-chromium.mjs";
import { SILENT_LOGGER } from "../../src/internal/logger.ts";
import { launchBrowser } from "../browser/web-page.ts";
import { accessibilityProblems, keepPicture, shrinkToPhone, type WatchedPage, watch } from "./console-page.ts";

const chromium = findChromium();
const mustRun = process.env["CHROMIUM_REQUIRED"] === "1";
const declared = { description: "For tests.", version: "1.0.0" };
const PHONE = { width: 390, height: 844, theme: "dark" } as const;
/** One red pixel. */
const PNG = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8BQDwAEhQGAhKmMIQAAAABJRU5ErkJggg==";

/** Returns a file of every kind that the console shows. */
const gallery = agent({
  ...{ ...declared, id: "gallery", name: "Gallery" },
  async run(task) {
    const names = task.files.map(({ name = "" }) => name);
    await task.write(`# Heading\n\nGot **${names.join(", ")}**.`);
    const file = (name: string, mediaType: string, bytes: Uint8Array) =>
      task.artifact(name).end({ file: { name, mediaType, bytes } });
    await file("dot.png", "image/png", Buffer.from(PNG, "base64"));
    await file("code.ts", "text/typescript", new TextEncoder().encode("const answer = 42;"));
    await task.artifact("data").end({ answer: 42, list: [1, 2] });
  },
});

const geometry = agent({
  ...{ ...declared, id: "geometry", name: "Geometry" },
  skills: [
    skill({
      ...{ id: "area", name: "Area", description: "Of a circle.", tags: ["geometry"] },
      input: z.object({ radius: z.number().min(1) }),
      run: async (task) => `The area is ${Math.round(Math.PI * task.data.radius ** 2)}`,
    }),
  ],
});

const account = agent({
  ...{ ...declared, id: "account", name: "Account" },
  async run(task) {
    const answer = await task.requireAuth("Please allow the access at https://login.example/allow");
    return `Thank you: ${answer?.parts[0]?.text}`;
  },
});

describe.skipIf(chromium === undefined && !mustRun)("the console", () => {
  let browser: Browser;
  let server: Server;
  let url = "";
  let code = "";
  let watched: WatchedPage[] = [];
  beforeAll(async () => {
    if (chromium === undefined) throw new Error("CHROMIUM_REQUIRED is set, but no Chromium was found.");
    await ensureConsole();
    browser = await launchBrowser(chromium);
    server = createServer([gallery, geometry, account], {
      ...{ port: 0, store: "memory:", logger: SILENT_LOGGER, drainTimeout: 0 },
      outgoing: { http: true, allow: ["loopback"] },
      push: { retries: 1, retryDelay: 600_000 },
    });
    const { url: at, consoleUrl = "" } = await server.listen();
    url = at;
    code = new URL(consoleUrl).hash;
  });
  afterEach(async () => {
    const faults = watched.flatMap((each) => each.faults);
    await Promise.all(watched.map(({ page }) => page.context().close()));
    watched = [];
    if (faults.length > 0) throw new Error(`The page had faults:\n${faults.join("\n")}`);
  });
  afterAll(async () => {
    await browser?.close();
    await server?.close();
  });
  const open = async (path: string, options: Parameters<typeof watch>[2] = {}): Promise<Page> => {
    const opened = await watch(browser, `${url}/console/${path}${code}`, options);
    watched.push(opened);
    return opened.page;
  };

  it("says what is wrong with a card, takes files that are dropped on the page, and shows images, code, data and Markdown", async () => {
    const page = await open("agents/gallery");
    await page.getByText(/^No examples for/).waitFor();
    await page.getByRole("link", { name: "Chat" }).first().click();
    await page.getByLabel("Message to Gallery").waitFor();
    await page.evaluate(`(() => {
      const dataTransfer = new DataTransfer();
      dataTransfer.items.add(new File(["hello"], "note.txt", { type: "text/plain" }));
      for (const type of ["dragover", "drop"])
        document.body.dispatchEvent(new DragEvent(type, { dataTransfer, bubbles: true, cancelable: true }));
    })()`);
    await page.getByText("note.txt").waitFor();
    await page.getByRole("button", { name: "Send" }).click();
    await page.locator(".turn.agent .state.completed").waitFor();
    await page.locator(".prose h1, .prose h2, .prose h3", { hasText: "Heading" }).waitFor();
    expect(await page.locator(".prose strong").textContent()).toBe("note.txt");
    const image = page.locator(".part img");
    await image.waitFor();
    expect(await image.evaluate((each) => (each as unknown as { naturalWidth: number }).naturalWidth)).toBe(1);
    expect(await page.locator(".part pre", { hasText: "const answer = 42;" }).count()).toBe(1);
    expect(await page.locator(".part .json").textContent()).toContain("answer: 42");
    expect(await accessibilityProblems(page)).toEqual([]);
    await keepPicture(page, "chat-files");
    expect(await shrinkToPhone(page, "chat-files")).toEqual([]);
  });

  it("makes a form of the schema of a skill", async () => {
    const page = await open("agents/geometry/chat", PHONE);
    await page.getByLabel("Skill").selectOption("area");
    await page.getByLabel("Radius").fill("2");
    await keepPicture(page, "chat-skill");
    await page.getByRole("button", { name: "Send" }).click();
    await page.getByText("The area is 13").waitFor();
  });

  it("shows a request for an authorisation with its address, and goes on when one says that it is done", async () => {
    const page = await open("agents/account/chat", PHONE);
    await page.getByLabel("Message to Account").fill("Hello");
    await page.keyboard.press("Enter");
    const card = page.locator("section.question");
    await card.getByText("Please allow the access").first().waitFor();
    await keepPicture(page, "chat-authorisation");
    expect(await card.locator("a").getAttribute("href")).toBe("https://login.example/allow");
    expect(await accessibilityProblems(page)).toEqual([]);
    await card.getByRole("button", { name: "Answer in words" }).click();
    await card.getByLabel("Your answer").waitFor();
    await card.getByRole("button", { name: "Back" }).click();
    await card.getByRole("button", { name: "I have authorised it" }).click();
    await page.getByText("Thank you: I have authorised it.").waitFor();
  });

  it("lists what is tried again and what could not be delivered, and delivers it again", async () => {
    let works = false;
    let received = 0;
    const receiver = createReceiver((request, response) => {
      const isBusy = request.url === "/busy";
      if (!isBusy) received += 1;
      response.writeHead(isBusy ? 503 : works ? 200 : 410).end();
    });
    await new Promise<void>((resolve) => void receiver.listen(0, "127.0.0.1", resolve));
    try {
      const { port } = receiver.address() as AddressInfo;
      const push = { id: "hook", url: `http://127.0.0.1:${port}/hook?token=secret` };
      const client = await connect(`${url}/agents/gallery`);
      await client.send("x", { push });
      await client.send("x", { push: { id: "busy", url: `http://127.0.0.1:${port}/busy` } });
      const page = await open("webhooks");
      await page.getByRole("heading", { name: "Tried again" }).waitFor();
      await page.getByText("1 being tried again").waitFor();
      await page.getByRole("button", { name: "Redeliver" }).waitFor();
      expect(await page.locator("main").textContent()).not.toContain("secret");
      await keepPicture(page, "webhooks-failed");
      expect(await shrinkToPhone(page, "webhooks-failed")).toEqual([]);
      expect(await accessibilityProblems(page)).toEqual([]);
      works = true;
      received = 0;
      await page.getByRole("button", { name: "Redeliver" }).click();
      await expect.poll(() => received, { timeout: 20_000 }).toBeGreaterThan(0);
      await page.getByRole("button", { name: "Redeliver" }).waitFor({ state: "detached" });
    } finally {
      receiver.close();
    }
  });

  it("goes to any time of the list at once, says that there are new tasks, and filters by context, caller and time", async () => {
    await (await connect(`${url}/agents/gallery`)).send("An old one");
    const page = await open("tasks");
    await page.locator(".tasks .title a").first().waitFor();
    await page.getByLabel("Changed before").fill("2020-01-01T00:00:00");
    await page.getByText("No task fits these filters.").waitFor();
    await page.getByRole("button", { name: "Newest" }).click();
    await page.locator(".tasks .title a").first().waitFor();
    const sent = await (await connect(`${url}/agents/gallery`)).send("A new one");
    await page.getByRole("button", { name: /1 new task/ }).click();
    const titles = page.locator(".tasks .title");
    await titles.getByText("A new one").waitFor();
    const find = async (words: string): Promise<void> => {
      await page.getByLabel("A task id, caller:NAME or context:ID").fill(words);
      await page.keyboard.press("Enter");
    };
    expect(await shrinkToPhone(page, "tasks-new")).toEqual([]);
    await find(`context:${sent.kind === "task" ? sent.task.contextId : ""}`);
    await expect.poll(() => titles.allTextContents()).toEqual(["A new one"]);
    await find("caller:nobody");
    await page.getByText("No task fits these filters.").waitFor();
    await page.getByRole("button", { name: /caller is nobody/ }).click();
    await page.getByRole("button", { name: "1 h", exact: true }).click();
    await page.waitForURL(/range=1h/);
    await titles.getByText("A new one").waitFor();
  });
});
