import type { Random } from "../random.ts";

/**
 * A disturbance of nodes on one database.
 *
 * - `cut-callers`, `stall-callers`: connections of callers are cut, or deliver nothing for a while.
 * - `cut-database`, `delay-database`: the same between a node and the database.
 * - `terminate`: the database ends some of a node's connections (`pg_terminate_backend`).
 * - `lose-hints`: a node gets no notifications for a while.
 * - `kill`: `kill -9` of a node, which starts again.
 * - `hand-over`: SIGTERM of a node, which hands its tasks over, ends and starts again.
 * - `suspend`: SIGSTOP of a node, longer than half of its lease and often than all of it.
 * - `crash-database`: the database stops at once (`pg_ctl stop -m immediate`) and starts again.
 * - `crash-in-recovery`: a node is killed, and the database crashes while others take over its tasks, and once more while nodes connect again.
 * - `jump-clock`: the clock of a node jumps.
 */
export type FaultKind = (typeof ENDS)[number] | (typeof NETWORK)[number] | (typeof SEVERE)[number];

export interface Fault {
  readonly number: number;
  readonly do: FaultKind;
  /** Milliseconds since the fault before. */
  readonly pause: number;
  /** Chooses the node. */
  readonly pick: number;
  /** Milliseconds that the fault lasts; of a clock, by how much it jumps. */
  readonly time: number;
  /** Decisions during the fault. */
  readonly random: Random;
}

/** The ends of a node, in turn. */
const ENDS = ["kill", "kill", "hand-over"] as const;
/** Repetition sets the probability. */
const NETWORK = [
  "cut-callers",
  "stall-callers",
  "cut-database",
  "cut-database",
  "delay-database",
  "delay-database",
  "terminate",
  "terminate",
  "lose-hints",
  "lose-hints",
] as const;
const SEVERE = ["suspend", "crash-database", "jump-clock", "suspend", "crash-in-recovery"] as const;

export interface FaultOptions {
  readonly faults: number;
  /** Average milliseconds between two faults. */
  readonly pace: number;
}

/** 80 % faults of the network, 15 % ends of a node (every third by SIGTERM), 5 % severe ones; exactly, if there are enough faults. */
export function planFaults(random: Random, { faults, pace }: FaultOptions): readonly Fault[] {
  const ends = Math.round(faults * 0.15);
  const severe = Math.round(faults * 0.05);
  const first = random.between(0, SEVERE.length - 1);
  const kinds: FaultKind[] = [
    ...Array.from({ length: ends }, (_, index) => ENDS[index % ENDS.length] ?? "kill"),
    // Few faults do not have all kinds: the seed decides which.
    ...Array.from({ length: severe }, (_, index) => SEVERE[(index + first) % SEVERE.length] ?? "suspend"),
  ];
  while (kinds.length < faults) kinds.push(random.pick(NETWORK));
  return shuffled(kinds, random).map((kind, index) => ({
    number: index + 1,
    do: kind,
    pause: Math.round(pace * random.next() * 2),
    pick: random.between(0, 99),
    time: timeOf(kind, random),
    random: random.fork(`fault ${index}`),
  }));
}

function timeOf(kind: FaultKind, random: Random): number {
  switch (kind) {
    case "stall-callers":
      return random.between(50, 1500);
    case "delay-database":
      return random.pick([random.between(20, 300), random.between(300, 4000)]);
    case "lose-hints":
      return random.between(500, 5000);
    case "suspend":
      return random.between(3000, 8000);
    case "crash-database":
    case "crash-in-recovery":
      return random.between(0, 1500);
    case "jump-clock":
      return random.pick([-3_600_000, -30_000, -2000, 2000, 30_000, 3_600_000]);
    default:
      return 0;
  }
}

function shuffled<T>(items: readonly T[], random: Random): T[] {
  return items
    .map((item) => ({ item, order: random.next() }))
    .sort((a, b) => a.order - b.order)
    .map(({ item }) => item);
}
