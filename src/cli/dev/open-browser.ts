import { spawn } from "node:child_process";

/** Opens a URL in the user's browser. Does nothing if the system has no command for it. */
export function openBrowser(url: string): void {
  const [command, ...args] = commandFor(process.platform, url);
  if (command === undefined) return;
  const child = spawn(command, args, { stdio: "ignore", detached: true });
  // The command does not exist: the URL is printed anyway.
  child.on("error", () => undefined);
  child.unref();
}

function commandFor(platform: NodeJS.Platform, url: string): readonly string[] {
  if (platform === "darwin") return ["open", url];
  // `start` would interpret `&`; this does not.
  if (platform === "win32") return ["rundll32", "url.dll,FileProtocolHandler", url];
  return ["xdg-open", url];
}
