/** The words after the program name that make a text a command. */
const COMMANDS = "auth|bridge|card|completion|config|conformance|help|hooks|init|keys|send|serve|task";

/** Matches the program name before a command, as help texts and hints contain it. */
const WRITTEN = new RegExp(`\\bpalaver (?=(?:${COMMANDS})\\b)`, "g");

/** How this program was started: `palaver`, `npx palaver`, or `npm run -s palaver --`. npm sets environment variables that show it. */
export function programName(env: Readonly<Record<string, string | undefined>>): string {
  if (!env["npm_command"]) return "palaver";
  return env["npm_lifecycle_event"] === "palaver" ? "npm run -s palaver --" : "npx palaver";
}

/**
 * Replaces the program name in every command of a text, so that the command works in the shell that started this program.
 * With npx, `To wait for it: palaver task get …` becomes `To wait for it: npx palaver task get …`.
 */
export function pasteable(text: string, program: string): string {
  return program === "palaver" ? text : text.replaceAll(WRITTEN, `${program} `);
}
