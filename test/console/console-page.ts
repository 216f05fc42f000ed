import { join } from "node:path";
import axe from "axe-core";
import type { Browser, Page } from "playwright-core";
import { ROOT } from "../architecture/imports.ts";

/** A page, and everything that should not happen on it. */
export interface WatchedPage {
  readonly page: Page;
  /** Errors of the console and of scripts, dialogs, and requests to other origins. */
  readonly faults: readonly string[];
}

export interface PageOptions {
  readonly theme?: "light" | "dark";
  readonly width?: number;
  readonly height?: number;
}

/** Messages that browsers write when a server that the test stopped does not answer. */
const UNREACHABLE = /Failed to load resource: net::ERR_|ERR_CONNECTION|ERR_INCOMPLETE_CHUNKED/;

/** Opens a URL in a fresh browser context. */
export async function watch(browser: Browser, url: string, options: PageOptions = {}): Promise<WatchedPage> {
  const { theme = "light", width = 1280, height = 860 } = options;
  const context = await browser.newContext({ viewport: { width, height }, colorScheme: theme, acceptDownloads: true });
  await context.grantPermissions(["clipboard-read", "clipboard-write"]);
  const page = await context.newPage();
  const faults: string[] = [];
  const { origin } = new URL(url);
  page.on("console", (message) => {
    const text = message.text();
    if (["error", "warning"].includes(message.type()) && !UNREACHABLE.test(text)) faults.push(`console: ${text}`);
  });
  page.on("response", (response) => {
    if (response.status() >= 400) faults.push(`answer: ${response.status()} ${response.url()}`);
  });
  page.on("pageerror", (error) => faults.push(`script: ${error.message}`));
  page.on("dialog", (dialog) => {
    faults.push(`dialog: ${dialog.message()}`);
    void dialog.dismiss();
  });
  page.on("request", (request) => {
    const asked = request.url();
    if (!asked.startsWith(origin) && !asked.startsWith("blob:")) faults.push(`request: ${asked}`);
  });
  await page.goto(url);
  return { page, faults };
}

/** Accessibility problems of WCAG 2.2 AA that axe finds on a page. */
export async function accessibilityProblems(page: Page): Promise<readonly string[]> {
  await page.evaluate(axe.source);
  const found = await page.evaluate(async () => {
    const { axe: loaded } = globalThis as unknown as {
      axe: {
        run(
          options: object,
        ): Promise<{ violations: { id: string; nodes: { html: string; failureSummary: string }[] }[] }>;
      };
    };
    const { violations } = await loaded.run({
      runOnly: ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"],
    });
    return violations.flatMap(({ id, nodes }) =>
      nodes.map(({ html, failureSummary }) => `${id}: ${html} ${failureSummary}`),
    );
  });
  // A target at the edge of a scrolling area is cut off until one scrolls.
  return found.filter((problem) => !problem.includes("partially obscured"));
}

/** Resolves when what the page has loaded is drawn: after six frames, so that effects and what they change are drawn, too. */
export async function drawn(page: Page): Promise<void> {
  await page.waitForLoadState("load");
  await page.evaluate(async () => {
    const next = globalThis as unknown as { requestAnimationFrame(done: () => void): number };
    for (let frame = 0; frame < 6; frame += 1) await new Promise<void>((done) => next.requestAnimationFrame(done));
  });
}

/** Keeps a picture of the page as test output, in `coverage/console`. */
export async function keepPicture(page: Page, name: string): Promise<void> {
  await page.screenshot({ path: join(ROOT, "coverage", "console", `${name}.png`) });
}

/** Looks for what does not fit: the page is wider than the screen, or buttons, links and fields reach beyond the screen or another element that cuts them off. */
const FIND_OVERFLOW = `(() => {
  const problems = [];
  const { scrollWidth, clientWidth } = document.documentElement;
  if (scrollWidth > clientWidth) problems.push("The page scrolls sideways.");
  for (const element of document.querySelectorAll("main, main .content"))
    if (element.scrollWidth > element.clientWidth) problems.push("Scrolls sideways: " + element.className);
  for (const element of document.querySelectorAll("main :is(button, a[href], input, select, textarea)")) {
    const { right, width } = element.getBoundingClientRect();
    if (width < 2) continue;
    for (let around = element.parentElement; around !== null; around = around.parentElement) {
      const { overflowX, textOverflow } = getComputedStyle(around);
      // What scrolls can be reached; a text that ends with an ellipsis is cut off on purpose.
      if (overflowX === "auto" || overflowX === "scroll" || textOverflow === "ellipsis") break;
      const limit = around === document.documentElement ? clientWidth : around.getBoundingClientRect().right;
      const cuts = around === document.documentElement || overflowX === "hidden" || overflowX === "clip";
      if (cuts && right > limit + 1) {
        problems.push("Cut off: " + element.outerHTML.slice(0, 120));
        break;
      }
    }
  }
  return problems;
})()`;

/** What does not fit on the screen. */
export function overflowProblems(page: Page): Promise<readonly string[]> {
  return page.evaluate(FIND_OVERFLOW);
}

const PHONE_SIZE = { width: 390, height: 844 };

/** Makes the screen of an open page as small as a phone. Returns what does not fit. Keeps a picture. */
export async function shrinkToPhone(page: Page, name: string): Promise<readonly string[]> {
  await page.setViewportSize(PHONE_SIZE);
  await drawn(page);
  await keepPicture(page, `${name}-phone`);
  return overflowProblems(page);
}
