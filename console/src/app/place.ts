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

/** The URL of an agent of this server, with a slash at its end. */
export function agentUrl(id: string): string {
  return `${SERVER_URL}/agents/${encodeURIComponent(id)}/`;
}
