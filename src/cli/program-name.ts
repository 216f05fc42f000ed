const COMMANDS = "auth|bridge|card|completion|config|conformance|help|hooks|init|keys|send|serve|task";

/** A command of this program as the source code writes it. */
const WRITTEN = new RegExp(`\\bpalaver (?=(?:${COMMANDS})\\b)`, "g");

/** How this program was started: `palaver`, `npx palaver`, or `npm run -s palaver --`. Told by the variables that npm sets. */
export function programName(env: Readonly<Record<string, string | undefined>>): string {
  if (!env["npm_command"]) return "palaver";
  return env["npm_lifecycle_event"] === "palaver" ? "npm run -s palaver --" : "npx palaver";
}

/** The text with every command in it spelled so that it works when pasted into the shell that started this program. */
export function pasteable(text: string, program: string): string {
  return program === "palaver" ? text : text.replaceAll(WRITTEN, `${program} `);
}
