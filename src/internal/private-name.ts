/** Names that are looked up in one's own network, or nowhere. */
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

/** Whether a host's name, in lower case, is none of the public internet. One without a dot is of the network the program runs in. */
export function isPrivateName(hostname: string): boolean {
  return !hostname.includes(".") || PRIVATE_NAMES.some((name) => hostname === name || hostname.endsWith(`.${name}`));
}
