import type { Random } from "./random.ts";

/** One action of the scripted agent. Times are milliseconds. */
export type Action =
  | { readonly do: "write"; readonly chunks: number; readonly size: number; readonly pause: number }
  | { readonly do: "status"; readonly text: string }
  | { readonly do: "step"; readonly name: string; readonly work: number }
  | { readonly do: "ask"; readonly question: number }
  | { readonly do: "next"; readonly messages: number }
  | { readonly do: "sleep"; readonly time: number };

/** The content of a task's first message, as JSON text. */
export interface Script {
  readonly name: string;
  readonly actions: readonly Action[];
}

export type Sending = "own-client" | "stream" | "send";

/** The plan of one task, made before it starts. */
export interface TaskPlan extends Script {
  readonly sending: Sending;
  readonly webhook: boolean;
  /** Whether a second, slow reader follows the task. */
  readonly slowReader: boolean;
  /** Cancel after this many events; absent: never. */
  readonly cancelAfter?: number;
  /** How each question is answered: whether the send waits, and whether a second answer is sent at the same time. */
  readonly answers: readonly AnswerPlan[];
}

export interface AnswerPlan {
  readonly waits: boolean;
  readonly twice: boolean;
}

/** The kinds of action; repetition sets the probability. */
const KINDS = [
  ...(["write", "write", "write", "write", "write", "flood", "status", "status", "sleep"] as const),
  ...(["step", "step", "step", "step", "ask", "ask", "ask", "ask", "next", "next"] as const),
] as const;

export function planTask(random: Random, name: string): TaskPlan {
  const actions: Action[] = [];
  const answers: AnswerPlan[] = [];
  const count = random.between(2, 6);
  for (let index = 0; index < count; index++) {
    const kind = random.pick(KINDS);
    if (kind === "ask") answers.push({ waits: random.chance(0.6), twice: random.chance(0.1) });
    actions.push(planAction(random, kind, { index, question: answers.length }));
  }
  const sending = random.pick<Sending>(["own-client", "own-client", "stream", "stream", "send"]);
  return {
    name,
    actions,
    sending,
    answers,
    webhook: random.chance(0.6),
    slowReader: random.chance(0.25),
    ...(random.chance(0.15) && { cancelAfter: random.between(1, 12) }),
  };
}

function planAction(
  random: Random,
  kind: (typeof KINDS)[number],
  { index, question }: { readonly index: number; readonly question: number },
): Action {
  switch (kind) {
    case "write":
      return { do: "write", chunks: random.between(1, 12), size: random.between(1, 40), pause: random.between(0, 60) };
    case "flood":
      // More bytes than the reader buffers and the sockets hold.
      return { do: "write", chunks: random.between(30, 150), size: 3000, pause: 0 };
    case "status":
      return { do: "status", text: `note ${index}` };
    case "step":
      return { do: "step", name: `step-${index}`, work: random.between(0, 80) };
    case "ask":
      return { do: "ask", question };
    case "next":
      return { do: "next", messages: random.between(1, 4) };
    case "sleep":
      return { do: "sleep", time: random.between(1, 300) };
  }
}

/** A disturbance of processes or connections, `at` milliseconds after the start. */
export interface Trouble {
  readonly at: number;
  readonly do: "kill" | "term" | "stop" | "stop-client" | "stop-receiver" | "cut" | "stall";
  /** Duration in milliseconds of a stop or stall. */
  readonly time: number;
  /** The client, for disturbances of one client. */
  readonly pick: number;
}

export interface TroubleOptions {
  readonly kills: number;
  /** Milliseconds. */
  readonly duration: number;
}

/** Spreads the kills evenly with some jitter, and the other disturbances between them. */
export function planTroubles(random: Random, { kills, duration }: TroubleOptions): readonly Trouble[] {
  const troubles: Trouble[] = [];
  const add = (what: Trouble["do"], at: number, longest: number): void => {
    troubles.push({ at: Math.round(at), do: what, time: random.between(50, longest), pick: random.between(0, 99) });
  };
  const gap = duration / (kills + 1);
  for (let kill = 1; kill <= kills; kill++) add("kill", gap * (kill + random.next() * 0.8 - 0.4), 0);
  const others = [
    ["term", 0.15, 50],
    ["stop", 0.25, 2000],
    ["stop-client", 0.25, 1500],
    ["stop-receiver", 0.15, 1000],
    ["cut", 1.5, 50],
    ["stall", 0.5, 1500],
  ] as const;
  const seconds = duration / 1000;
  for (const [what, perSecond, longest] of others) {
    const times = Math.max(1, Math.round((perSecond * seconds) / 2));
    for (let time = 0; time < times; time++) add(what, random.next() * duration, longest);
  }
  return troubles.sort((a, b) => a.at - b.at);
}
