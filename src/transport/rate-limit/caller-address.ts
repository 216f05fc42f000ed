/**
 * What counts as one caller by its network address. Of version 6 that is the network: whoever has one address of it has 2^64. An address of
 * version 4 is one, in whichever notation.
 */
export function callerAddress(remote: string | undefined): string {
  if (remote === undefined) return "unknown";
  const [address = ""] = remote.toLowerCase().split("%");
  const mapped = /^::ffff:(?<v4>\d+\.\d+\.\d+\.\d+)$/.exec(address)?.groups?.["v4"];
  if (mapped !== undefined) return mapped;
  return address.includes(":") ? `${networkOf(address)}::/64` : address;
}

/** The first four groups, without the zeros that need not be written. */
function networkOf(address: string): string {
  const [head = "", tail] = address.split("::");
  const before = groupsOf(head);
  const after = tail === undefined ? [] : groupsOf(tail);
  const zeros = Array.from({ length: Math.max(0, 8 - before.length - after.length) }, () => "0");
  return [...before, ...zeros, ...after]
    .slice(0, 4)
    .map((group) => group.replace(/^0+(?=.)/, ""))
    .join(":");
}

function groupsOf(half: string): readonly string[] {
  return half === "" ? [] : half.split(":");
}
