/** The script is at `/console/assets/`, wherever the server is mounted. */
const script = new URL(import.meta.url);

/** The path of the console, with a slash at its end. */
export const CONSOLE_PATH: string = new URL("../", script).pathname;

/** The URL of the server, without a slash at its end. */
export const SERVER_URL: string = new URL("../../", script).href.replace(/\/$/, "");

/** The URL of a page of the console. `path` is relative to it, such as `tasks?state=working`. */
export function href(path: string): string {
  return CONSOLE_PATH + path;
}

/** The URL of the agent that this console inspects; `undefined`: it shows the agents of this server. */
export const INSPECTED: string | undefined =
  document.querySelector<HTMLMetaElement>('meta[name="palaver-inspects"]')?.content || undefined;

/** The id that stands for the inspected agent in addresses of pages. */
export const INSPECTED_ID = "agent";

/** The URL of an agent. Of one of this server, with a slash at its end. */
export function agentUrl(id: string): string {
  if (INSPECTED !== undefined) return INSPECTED;
  return `${SERVER_URL}/agents/${encodeURIComponent(id)}/`;
}
