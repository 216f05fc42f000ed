/** Whether nobody can listen in on the way: it is encrypted, or does not leave this machine. */
export function isPrivateWay({ protocol, hostname }: URL): boolean {
  return protocol === "https:" || (protocol === "http:" && ["localhost", "127.0.0.1", "[::1]"].includes(hostname));
}
