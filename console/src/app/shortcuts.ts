import { openPalette } from "./palette.tsx";
import { href } from "./place.ts";
import { navigate } from "./route.ts";

/** `G`, then one of these. */
const PLACES: Readonly<Record<string, string>> = { a: "", t: "tasks", i: "inbox", w: "webhooks", s: "server" };
/** Milliseconds between `G` and the second key. */
const PAUSE = 1500;

/** Keys that work on every page. Single keys do nothing while one types. */
export function listenForShortcuts(): void {
  let goAt = 0;
  document.addEventListener("keydown", (event) => {
    if (event.key.toLowerCase() === "k" && (event.metaKey || event.ctrlKey)) {
      event.preventDefault();
      openPalette();
      return;
    }
    // In a form, also while one types: send it.
    if (event.key === "Enter" && (event.metaKey || event.ctrlKey)) {
      const form = event.target instanceof Element ? event.target.closest("form") : null;
      if (form === null) return;
      event.preventDefault();
      form.requestSubmit();
      return;
    }
    if (event.metaKey || event.ctrlKey || event.altKey || isTyping(event.target)) return;
    const key = event.key.toLowerCase();
    const place = PLACES[key];
    if (Date.now() - goAt < PAUSE && place !== undefined) {
      event.preventDefault();
      goAt = 0;
      navigate(href(place));
    } else if (key === "g") goAt = Date.now();
    else if (key === "/") {
      const field = document.querySelector<HTMLInputElement>("[data-filter]");
      if (field === null) return;
      event.preventDefault();
      field.focus();
    }
  });
}

/** Whether a key goes into a field. */
export function isTyping(target: EventTarget | null): boolean {
  return (
    target instanceof HTMLElement &&
    (target.isContentEditable || /^(?:INPUT|TEXTAREA|SELECT|DIALOG)$/.test(target.tagName))
  );
}
