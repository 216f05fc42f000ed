// Tells public IP addresses from those of private networks, of this machine and of clouds' metadata services. Used by everything that calls
// addresses from untrusted parties, in browsers too, so it does not use Node.

/** The bytes of an address: 4 or 16. */
type Bytes = readonly number[];

/** Networks without public addresses: prefix and length in bits. */
const CLOSED_V4: readonly (readonly [string, number])[] = [
  ["0.0.0.0", 8],
  ["10.0.0.0", 8],
  ["100.64.0.0", 10],
  ["127.0.0.0", 8],
  // Link-local: the metadata services of clouds are here.
  ["169.254.0.0", 16],
  ["172.16.0.0", 12],
  ["192.0.0.0", 24],
  ["192.0.2.0", 24],
  ["192.88.99.0", 24],
  ["192.168.0.0", 16],
  ["198.18.0.0", 15],
  ["198.51.100.0", 24],
  ["203.0.113.0", 24],
  ["224.0.0.0", 4],
  ["240.0.0.0", 4],
];

/** Outside of 2000::/3 no IPv6 address is public, except forms that contain an IPv4 address. Inside, these networks are not public: */
const CLOSED_V6: readonly (readonly [string, number])[] = [
  // Protocol assignments, including Teredo, which contains an IPv4 address.
  ["2001::", 23],
  ["2001:db8::", 32],
  ["3fff::", 20],
];

/** Prefixes of IPv6 addresses that contain an IPv4 address, and its position. */
const EMBEDDED_V4: readonly (readonly [string, number, offset: number])[] = [
  ["::ffff:0:0", 96, 12],
  ["64:ff9b::", 96, 12],
  ["2002::", 16, 2],
];

/**
 * Whether an address is public. `undefined`: the text is not an address. IPv4 addresses must have four decimal numbers: `URL` converts all other
 * forms to this one.
 */
export function isPublicAddress(text: string): boolean | undefined {
  const bytes = bytesOf(text);
  if (bytes === undefined) return undefined;
  return bytes.length === 4 ? isPublicV4(bytes) : isPublicV6(bytes);
}

/** A network: all addresses with the same prefix. */
export interface Network {
  readonly prefix: Bytes;
  /** Length of the prefix in bits. */
  readonly length: number;
}

/** Parses `10.0.0.0/8`, `fd00::/8` or a single address; `undefined` if the text is invalid. */
export function parseNetwork(text: string): Network | undefined {
  const [address = "", bits, ...rest] = text.split("/");
  const prefix = bytesOf(address);
  if (prefix === undefined || rest.length > 0 || address.includes("%")) return undefined;
  const most = prefix.length * 8;
  const length = bits === undefined ? most : /^\d{1,3}$/.test(bits) ? Number(bits) : Number.NaN;
  return length <= most ? { prefix, length } : undefined;
}

/**
 * Whether an address is in a network. An IPv4 address that is written as IPv6 (`::ffff:10.0.0.1`) counts as IPv4. False for invalid text.
 */
export function isInNetwork(text: string, { prefix, length }: Network): boolean {
  const bytes = bytesOf(text);
  if (bytes === undefined) return false;
  const isMapped = bytes.length === 16 && prefix.length === 4 && isWithin(bytes, MAPPED_V4, 96);
  return isWithin(isMapped ? bytes.slice(12) : bytes, prefix, length);
}

function bytesOf(text: string): Bytes | undefined {
  return text.includes(":") ? bytesOfV6(text) : bytesOfV4(text);
}

const MAPPED_V4: Bytes = [...Array.from({ length: 10 }, () => 0), 0xff, 0xff, 0, 0, 0, 0];

function isPublicV4(bytes: Bytes): boolean {
  return !CLOSED_V4.some(([prefix, length]) => isWithin(bytes, bytesOfV4(prefix), length));
}

/** An embedded IPv4 address decides, because a connection may reach it. */
function isPublicV6(bytes: Bytes): boolean {
  for (const [prefix, length, offset] of EMBEDDED_V4) {
    if (isWithin(bytes, bytesOfV6(prefix), length)) return isPublicV4(bytes.slice(offset, offset + 4));
  }
  if (!isWithin(bytes, bytesOfV6("2000::"), 3)) return false;
  return !CLOSED_V6.some(([prefix, length]) => isWithin(bytes, bytesOfV6(prefix), length));
}

/** Compares the first `length` bits. False for an address of the other family. */
function isWithin(bytes: Bytes, prefix: Bytes | undefined, length: number): boolean {
  if (prefix?.length !== bytes.length) return false;
  return prefix.every((wanted, index) => {
    const bits = Math.min(Math.max(length - index * 8, 0), 8);
    const mask = (0xff << (8 - bits)) & 0xff;
    return ((bytes[index] ?? 0) & mask) === (wanted & mask);
  });
}

function bytesOfV4(text: string): Bytes | undefined {
  if (!/^\d{1,3}(?:\.\d{1,3}){3}$/.test(text)) return undefined;
  const bytes = text.split(".").map(Number);
  return bytes.every((byte) => byte <= 255) ? bytes : undefined;
}

/** Accepts brackets and a zone (`fe80::1%eth0`), which is ignored. */
function bytesOfV6(text: string): Bytes | undefined {
  const [address = ""] = text.replace(/^\[(.*)\]$/, "$1").split("%");
  const halves = address.split("::");
  if (halves.length > 2) return undefined;
  const [head, tail] = halves.map((half) => (half === "" ? [] : groupsOf(half)));
  if (head === undefined || (halves.length === 2 && tail === undefined)) return undefined;
  const missing = 16 - head.length - (tail?.length ?? 0);
  if (halves.length === 1 ? missing !== 0 : missing < 2) return undefined;
  return [...head, ...Array.from({ length: missing }, () => 0), ...(tail ?? [])];
}

/** The bytes of groups between colons; the last group may be an IPv4 address. */
function groupsOf(half: string): Bytes | undefined {
  const bytes: number[] = [];
  const groups = half.split(":");
  for (const [index, group] of groups.entries()) {
    const v4 = index === groups.length - 1 ? bytesOfV4(group) : undefined;
    if (v4 !== undefined) bytes.push(...v4);
    else if (/^[\da-f]{1,4}$/i.test(group))
      bytes.push(Number.parseInt(group, 16) >> 8, Number.parseInt(group, 16) & 0xff);
    else return undefined;
  }
  return bytes;
}
