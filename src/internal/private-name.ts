/** Top-level names that are resolved in the local network only, or not at all. */
const PRIVATE_NAMES: readonly string[] = [
  "localhost",
  "local",
  "internal",
  "intranet",
  "private",
  "corp",
  "home",
  "lan",
  "home.arpa",
  "localdomain",
  "test",
  "invalid",
  "onion",
];

/** Whether a host name, in lower case, is not a name of the public internet. A name without a dot belongs to the local network. */
export function isPrivateName(hostname: string): boolean {
  return !hostname.includes(".") || PRIVATE_NAMES.some((name) => hostname === name || hostname.endsWith(`.${name}`));
}
