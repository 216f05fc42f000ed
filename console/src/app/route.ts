import { type ReadonlySignal, signal } from "@preact/signals";
import { CONSOLE_PATH } from "./place.ts";

/** The page that the address bar shows. */
export interface Route {
  /** The segments of the path below the console, decoded. */
  readonly segments: readonly string[];
  readonly query: URLSearchParams;
  /** The page was opened by its URL, perhaps by a link on another site: nothing may be sent because of it. */
  readonly isFirst: boolean;
}

const current = signal<Route>(routeOf(location.href, true));

/** The current page. */
export const route: ReadonlySignal<Route> = current;

function routeOf(url: string, isFirst: boolean = false): Route {
  const { pathname, searchParams } = new URL(url);
  const below = pathname.startsWith(CONSOLE_PATH) ? pathname.slice(CONSOLE_PATH.length) : "";
  return { segments: below.split("/").filter(Boolean).map(decoded), query: searchParams, isFirst };
}

function decoded(segment: string): string {
  try {
    return decodeURIComponent(segment);
  } catch {
    return segment;
  }
}

/** Opens a page of the console. `replace`: without an entry in the history. */
export function navigate(url: string, { replace = false }: { readonly replace?: boolean } = {}): void {
  const target = new URL(url, location.href);
  const isSamePage = target.pathname === location.pathname;
  if (replace) history.replaceState(null, "", target);
  else history.pushState(null, "", target);
  current.value = routeOf(target.href);
  if (!isSamePage) {
    scrollTo(0, 0);
    document.querySelector<HTMLElement>("main")?.focus({ preventScroll: true });
  }
}

/** Changes parameters of the current page; an empty value removes one. */
export function setQuery(changes: Readonly<Record<string, string | undefined>>, replace = false): void {
  const url = new URL(location.href);
  for (const [name, value] of Object.entries(changes)) {
    if (value === undefined || value === "") url.searchParams.delete(name);
    else url.searchParams.set(name, value);
  }
  navigate(url.href, { replace });
}

/** Follows links to pages of the console without loading the page again. */
export function followLinks(): void {
  addEventListener("popstate", () => {
    current.value = routeOf(location.href);
  });
  document.addEventListener("click", (event) => {
    if (event.defaultPrevented || event.button !== 0) return;
    if (event.metaKey || event.ctrlKey || event.shiftKey || event.altKey) return;
    const link = event.target instanceof Element ? event.target.closest("a") : null;
    if (link === null || link.target !== "" || link.hasAttribute("download")) return;
    if (link.origin !== location.origin || !link.pathname.startsWith(CONSOLE_PATH)) return;
    // Links within the page, such as the skip link.
    if (link.hash !== "" && link.pathname === location.pathname) return;
    event.preventDefault();
    navigate(link.href);
  });
}
