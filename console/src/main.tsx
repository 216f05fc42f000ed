import { render } from "preact";
import { App, loadFirstPage } from "./app/app.tsx";
import { followLinks } from "./app/route.ts";
import { openSessionFromUrl } from "./app/session.ts";
import { listenForShortcuts } from "./app/shortcuts.ts";
import { applyTheme } from "./app/theme.ts";

// The addresses of the files are relative to the first page, and browsers read them again when the address changes.
for (const link of document.querySelectorAll("link")) link.setAttribute("href", link.href);
applyTheme();
followLinks();
listenForShortcuts();
addEventListener("hashchange", () => void openSessionFromUrl());
await openSessionFromUrl();
loadFirstPage();
render(<App />, document.body);
