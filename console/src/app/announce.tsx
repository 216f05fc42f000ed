import { signal } from "@preact/signals";
import type { JSX } from "preact";

const text = signal("");

/** Says a sentence to screen readers. */
export function announce(sentence: string): void {
  text.value = sentence;
}

/** The place where sentences for screen readers appear. */
export function Announcements(): JSX.Element {
  return (
    <p class="hidden" role="status" aria-live="polite">
      {text.value}
    </p>
  );
}
