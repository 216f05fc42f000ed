import { render } from "preact";
import { App } from "./app/app.tsx";
import { followLinks } from "./app/route.ts";
import { openSessionFromUrl } from "./app/session.ts";
import { listenForShortcuts } from "./app/shortcuts.ts";
import { applyTheme } from "./app/theme.ts";

applyTheme();
followLinks();
listenForShortcuts();
addEventListener("hashchange", () => void openSessionFromUrl());
await openSessionFromUrl();
render(<App />, document.body);
