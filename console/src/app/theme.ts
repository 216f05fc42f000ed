import { type ReadonlySignal, signal } from "@preact/signals";

const KEY = "palaver-console-theme";
const THEMES = ["system", "light", "dark"] as const;

/** How the console looks; `system`: as the operating system says. */
export type Theme = (typeof THEMES)[number];

const chosen = signal<Theme>(THEMES.find((name) => name === localStorage.getItem(KEY)) ?? "system");

/** The chosen theme. */
export const theme: ReadonlySignal<Theme> = chosen;

/** Applies the kept theme. */
export function applyTheme(): void {
  document.documentElement.dataset["theme"] = chosen.value;
}

/** Chooses the next theme, and keeps the choice. */
export function nextTheme(): void {
  chosen.value = THEMES[(THEMES.indexOf(chosen.value) + 1) % THEMES.length] ?? "system";
  localStorage.setItem(KEY, chosen.value);
  applyTheme();
}
