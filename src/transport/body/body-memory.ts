import { callerAddress } from "../rate-limit/caller-address.ts";

export interface BodyMemoryLimits {
  /** Bytes of all unfinished bodies. */
  readonly total: number;
  /** Bytes of the unfinished bodies of one network address. */
  readonly perAddress: number;
}

/** The memory of one unfinished body. */
export interface BodyShare {
  /** Reports progress: the bytes that have arrived, and the bytes allocated for the body. May drop slower bodies. */
  update(received: number, allocated: number): void;
  /** The body is complete or abandoned. Idempotent. */
  release(): void;
}

/** Starts to count one body. `drop` is called at most once, if the body must release its memory; its share is released by then. */
export type ReserveBody = (drop: () => void) => BodyShare;

/** Bytes that must arrive to count as progress: one byte per second is none. */
const PROGRESS = 65_536;

/** The unfinished bodies of one address, those that have made no progress for the longest time first. */
interface Group {
  readonly address: string;
  readonly shares: Set<Share>;
  bytes: number;
}

/**
 * Bounds the memory of request bodies that have not arrived completely, in all and per network address. When a limit is reached, it drops the
 * bodies that have made no progress for the longest time, until there is room: fast callers get through however many slow ones there are.
 */
export class BodyMemory {
  readonly #limits: BodyMemoryLimits;
  readonly #shares = new Set<Share>();
  readonly #groups = new Map<string, Group>();
  #bytes = 0;

  /** Each limit must be at least as large as the largest body, which always fits alone. */
  constructor(limits: BodyMemoryLimits) {
    this.#limits = limits;
  }

  /** Bytes allocated now. */
  get bytes(): number {
    return this.#bytes;
  }

  /** Starts to count a body of this network address; of an unknown address, only towards the total. */
  reserve(remote: string | undefined, drop: () => void): BodyShare {
    const share = new Share(this, this.#groupOf(remote), drop);
    this.touch(share);
    return share;
  }

  /** Marks it as the one with the most recent progress. */
  touch(share: Share): void {
    for (const shares of [this.#shares, share.group?.shares]) {
      shares?.delete(share);
      shares?.add(share);
    }
  }

  /** Allocates more for a share. */
  allocate(share: Share, bytes: number): void {
    this.#count(share, bytes);
    const { group } = share;
    while (group !== undefined && group.bytes > this.#limits.perAddress && dropSlowest(group.shares, share));
    while (this.#bytes > this.#limits.total && dropSlowest(this.#shares, share));
  }

  remove(share: Share): void {
    if (!this.#shares.delete(share)) return;
    this.#count(share, -share.allocated);
    const { group } = share;
    group?.shares.delete(share);
    if (group?.shares.size === 0) this.#groups.delete(group.address);
  }

  #count({ group }: Share, bytes: number): void {
    this.#bytes += bytes;
    if (group !== undefined) group.bytes += bytes;
  }

  #groupOf(remote: string | undefined): Group | undefined {
    if (remote === undefined) return undefined;
    const address = callerAddress(remote);
    const known = this.#groups.get(address);
    if (known !== undefined) return known;
    const group = { address, shares: new Set<Share>(), bytes: 0 };
    this.#groups.set(address, group);
    return group;
  }
}

/** Drops the body that has made no progress for the longest time, but not this one. False if there is no other. */
function dropSlowest(shares: ReadonlySet<Share>, except: Share): boolean {
  for (const share of shares) {
    if (share === except) continue;
    share.drop();
    return true;
  }
  return false;
}

class Share implements BodyShare {
  readonly group: Group | undefined;
  readonly #memory: BodyMemory;
  readonly #drop: () => void;
  #allocated = 0;
  /** Bytes that had arrived when it last made progress. */
  #progress = 0;

  constructor(memory: BodyMemory, group: Group | undefined, drop: () => void) {
    this.#memory = memory;
    this.group = group;
    this.#drop = drop;
  }

  get allocated(): number {
    return this.#allocated;
  }

  update(received: number, allocated: number): void {
    if (received - this.#progress >= PROGRESS) {
      this.#progress = received;
      this.#memory.touch(this);
    }
    const more = allocated - this.#allocated;
    if (more === 0) return;
    this.#allocated = allocated;
    this.#memory.allocate(this, more);
  }

  release(): void {
    this.#memory.remove(this);
  }

  drop(): void {
    this.release();
    this.#drop();
  }
}
