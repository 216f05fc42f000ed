import { once } from "node:events";
import { createServer } from "node:http";
import { type Browser, chromium, type Page } from "playwright-core";
import type { program } from "./program.ts";

type Program = typeof program;

/** A page that has loaded the program, with its own origin. */
export interface WebPage {
  readonly origin: string;
  run<Name extends keyof Program>(name: Name, ...words: Parameters<Program[Name]>): ReturnType<Program[Name]>;
  close(): Promise<void>;
}

/** Disable the browser's background requests and its sandbox: tests may run without a network or as root. */
const FLAGS = [
  ...["--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-dev-shm-usage"],
  ...["--disable-background-networking", "--disable-component-update", "--disable-sync"],
];

export function launchBrowser(executablePath: string): Promise<Browser> {
  return chromium.launch({ executablePath, headless: true, args: FLAGS });
}

export async function openPage(browser: Browser, code: string): Promise<WebPage> {
  const site = createServer((request, response) => {
    const isProgram = request.url === "/program.js";
    response.setHeader("content-type", isProgram ? "text/javascript; charset=utf-8" : "text/html; charset=utf-8");
    response.end(
      isProgram ? code : '<!doctype html><title>Page</title><script type="module" src="program.js"></script>',
    );
  });
  site.listen(0, "127.0.0.1");
  await once(site, "listening");
  const address = site.address();
  if (address === null || typeof address === "string") throw new Error("The page's server is not listening.");
  const origin = `http://127.0.0.1:${address.port}`;
  const page: Page = await browser.newPage();
  const problems: string[] = [];
  page.on("pageerror", (error) => problems.push(String(error)));
  await page.goto(origin, { waitUntil: "load" });
  if (problems.length > 0) throw new Error(`The page does not load: ${problems.join("; ")}`);
  return {
    origin,
    // As text, because the test runner rewrites functions.
    run: (name, ...words) => page.evaluate(`program.${name}(...${JSON.stringify(words)})`) as never,
    close: async () => {
      await page.close();
      site.closeAllConnections();
      site.close();
    },
  };
}
