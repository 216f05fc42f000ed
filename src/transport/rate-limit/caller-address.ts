/**
 * The address by which a caller is counted. For IPv6 it is the /64 network, since a host usually has all 2^64 addresses of it. An IPv4 address
 * is the same in every notation.
 */
export function callerAddress(remote: string | undefined): string {
  if (remote === undefined) return "unknown";
  const [address = ""] = remote.toLowerCase().split("%");
  const mapped = /^::ffff:(?<v4>\d+\.\d+\.\d+\.\d+)$/.exec(address)?.groups?.["v4"];
  if (mapped !== undefined) return mapped;
  return address.includes(":") ? `${networkOf(address)}::/64` : address;
}

/** The first four groups, without leading zeros. */
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
