import { agent, createServer, type Server } from "palaver";
import { apiKeys } from "palaver/auth";
import { connect } from "palaver/client";
import type { Browser, Page } from "playwright-core";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { ensureConsole } from "../../scripts/build-console.mjs";
import { findChromium } from "../../scripts/ensure-chromium.mjs";
import { SILENT_LOGGER } from "../../src/internal/logger.ts";
import { launchBrowser } from "../browser/web-page.ts";
import { order } from "./agents.ts";
import {
  accessibilityProblems,
  keepPicture,
  overflowProblems,
  shrinkToPhone,
  type WatchedPage,
  watch,
} from "./console-page.ts";

const chromium = findChromium();
const mustRun = process.env["CHROMIUM_REQUIRED"] === "1";

const desk = agent({
  ...{ id: "desk", name: "Price desk", description: "Asks for a price.", version: "1.0.0" },
  async run(task) {
    await task.step("compare", () => Promise.resolve(1));
    return `The price is ${await task.ask("Which price do we launch with?", { timeout: 3_600_000 })}`;
  },
});
const vault = agent({
  ...{ id: "vault", name: "Vault", description: "Needs a password.", version: "1.0.0" },
  async run(task) {
    const secret = await task.requireAuth({ message: "The password of the archive", secret: true });
    return `It has ${String(secret).length} characters`;
  },
});

/** By the token that each person pastes. Callers send theirs as well. */
const PEOPLE: Readonly<Record<string, { readonly id: string; readonly scopes: readonly string[] }>> = {
  "Bearer token-of-ben-12345": { id: "ben", scopes: ["operate"] },
  "Bearer token-of-cleo-1234": { id: "cleo", scopes: ["operate"] },
  "Bearer token-of-ada-12345": { id: "ada", scopes: ["use"] },
};

describe.skipIf(chromium === undefined && !mustRun)("the inbox", () => {
  let browser: Browser;
  let server: Server;
  let url = "";
  let watched: WatchedPage[] = [];
  beforeAll(async () => {
    if (chromium === undefined) throw new Error("CHROMIUM_REQUIRED is set, but no Chromium was found.");
    await ensureConsole();
    browser = await launchBrowser(chromium);
    server = createServer([desk, vault, order], {
      ...{ port: 0, store: "memory:", logger: SILENT_LOGGER, drainTimeout: 0 },
      security: {
        schemes: { key: apiKeys({ name: "Authorization", verify: (key) => PEOPLE[key] }) },
      },
      operator: { policy: { scopes: ["operate"] } },
    });
    ({ url } = await server.listen());
  });
  afterEach(async () => {
    const faults = watched.flatMap((each) => each.faults).filter((fault) => !fault.includes("409"));
    await Promise.all(watched.map(({ page }) => page.context().close()));
    watched = [];
    if (faults.length > 0) throw new Error(`The page had faults:\n${faults.join("\n")}`);
  });
  afterAll(async () => {
    await browser?.close();
    await server?.close();
  });

  /** Ada's task that asks. */
  const ask = async (id: string): Promise<string> => {
    const client = await connect(`${url}/agents/${id}`, {
      headers: { authorization: "Bearer token-of-ada-12345" },
    });
    const sent = await client.send(`Hello ${id}`);
    return sent.kind === "task" ? sent.task.id : "";
  };
  const open = async (token: string, options: Parameters<typeof watch>[2] = {}): Promise<Page> => {
    const opened = await watch(browser, `${url}/console/inbox`, options);
    watched.push(opened);
    await opened.page.getByLabel(/token of the operator/).fill(token);
    await opened.page.getByRole("button", { name: "Open the console" }).click();
    await opened.page.locator(".inbox-list a, .empty").first().waitFor();
    return opened.page;
  };
  const stateOf = async (id: string): Promise<{ readonly state: string; readonly text: string }> => {
    const response = await fetch(`${url}/operator/v1/tasks/${id}`, {
      headers: { authorization: "Bearer token-of-ben-12345" },
    });
    const { task, history } = JSON.parse(await response.text());
    return { state: task.state, text: JSON.stringify(history) };
  };

  it("takes the first of two answers; the second person sees whose answer was taken, and keeps what was typed", async () => {
    const id = await ask("desk");
    const [ben, cleo] = await Promise.all([open("token-of-ben-12345"), open("token-of-cleo-1234")]);
    await ben.getByText("Answers as key:ben").waitFor();
    await ben.getByLabel("Your answer").fill("89 euros");
    await cleo.getByLabel("Your answer").fill("99 euros");
    // Both answer before either page has seen the other's answer.
    await Promise.all([ben.keyboard.press("Control+Enter"), cleo.waitForTimeout(300)]);
    await cleo
      .getByRole("button", { name: "Answer", exact: true })
      .click({ timeout: 1500 })
      .catch(() => undefined);
    await cleo.locator(".outrun").getByText("89 euros").waitFor();
    // Also after the page has read that the question is not open any more.
    await cleo.getByRole("heading", { name: "Answered while you are here" }).waitFor();
    expect(await cleo.locator(".outrun").textContent()).toContain("key:ben answered first");
    expect(await cleo.getByLabel("Your answer").inputValue()).toBe("99 euros");
    expect(await cleo.getByLabel("Your answer").isDisabled()).toBe(true);
    await keepPicture(cleo, "inbox-outrun");
    expect(await shrinkToPhone(cleo, "inbox-outrun")).toEqual([]);
    expect(await accessibilityProblems(cleo)).toEqual([]);
    await expect.poll(async () => (await stateOf(id)).state).toBe("completed");
    const { text } = await stateOf(id);
    expect(text).toContain('"answeredBy":"key:ben"');
    expect(text).not.toContain("99 euros");
  });

  it("makes a form of the schema, answers in words too, and goes on to the next question", async () => {
    const [first, second] = [await ask("order"), await ask("order")];
    const page = await open("token-of-ben-12345");
    await page.locator(".inbox-list a").nth(1).waitFor();
    // On a phone, the list and the question are two pages.
    expect(await shrinkToPhone(page, "inbox")).toEqual([]);
    await page.locator(".inbox-list a").first().click();
    await page.getByLabel("Tonnes").fill("40");
    await page.getByLabel("Mail").fill("ada@example.org");
    await page.getByLabel("South").check();
    await keepPicture(page, "inbox-form");
    expect(await overflowProblems(page)).toEqual([]);
    await page.getByRole("button", { name: "Answer", exact: true }).click();
    await expect.poll(async () => (await stateOf(first)).state).toBe("completed");
    await page.getByRole("button", { name: "Answer in words" }).click();
    await page.getByLabel("Your answer").fill("a ship full, to the south");
    await page.getByRole("button", { name: "Answer", exact: true }).click();
    // Words do not fit the schema of this question: the agent asks again, and nothing is lost.
    await expect.poll(async () => (await stateOf(second)).text).toContain("a ship full");
  });

  it("asks for a key where an agent requires one, sends it where its card says, and repeats the refused message", async () => {
    const page = await open("token-of-cleo-1234", { width: 390, height: 844 });
    await page.goto(`${url}/console/agents/desk/chat`);
    await page.getByLabel("Message to Price desk").fill("Hello desk");
    await page.keyboard.press("Enter");
    const key = page.getByLabel("API key or token for this agent");
    await key.waitFor();
    await keepPicture(page, "chat-key");
    expect(await overflowProblems(page)).toEqual([]);
    expect(await accessibilityProblems(page)).toEqual([]);
    await key.fill("Bearer token-of-ada-12345");
    await page.getByRole("button", { name: "Connect" }).click();
    await page.locator("section.question", { hasText: "Which price do we launch with?" }).waitFor();
    expect(await page.locator(".said").allTextContents()).toEqual(["Hello desk"]);
    await page.getByRole("button", { name: "Wire" }).click();
    await page.locator(".call").last().waitFor();
    expect(await page.content()).not.toContain("token-of-ada");
    // The refused request is an error in the browser's console, and here it must be one.
    const faults = watched.pop()?.faults ?? [];
    expect(faults).not.toEqual([]);
    expect(faults.filter((fault) => !fault.includes("401"))).toEqual([]);
    await page.context().close();
  });

  it("hides a secret answer while it is typed, and afterwards", async () => {
    const id = await ask("vault");
    const page = await open("token-of-cleo-1234", { width: 390, height: 844, theme: "dark" });
    await page.getByRole("link", { name: /password of the archive/ }).click();
    const field = page.getByLabel("Your answer, which is hidden");
    expect(await field.getAttribute("type")).toBe("password");
    await keepPicture(page, "inbox-secret-phone");
    expect(await overflowProblems(page)).toEqual([]);
    expect(await accessibilityProblems(page)).toEqual([]);
    await field.fill("open sesame");
    await page.getByRole("button", { name: "Answer", exact: true }).click();
    await expect.poll(async () => (await stateOf(id)).state).toBe("completed");
    expect((await stateOf(id)).text).not.toContain("sesame");
    expect(await page.content()).not.toContain("sesame");
  });
});
