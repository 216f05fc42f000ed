/** Whether requests to the URL are encrypted or stay on this machine. */
export function isPrivateWay({ protocol, hostname }: URL): boolean {
  return protocol === "https:" || (protocol === "http:" && ["localhost", "127.0.0.1", "[::1]"].includes(hostname));
}
