import type { Random } from "./random.ts";

/** One thing that the scripted agent does. Times are milliseconds. */
export type Action =
  | { readonly do: "write"; readonly chunks: number; readonly size: number; readonly pause: number }
  | { readonly do: "status"; readonly text: string }
  | { readonly do: "step"; readonly name: string; readonly work: number }
  | { readonly do: "ask"; readonly question: number }
  | { readonly do: "next"; readonly messages: number }
  | { readonly do: "sleep"; readonly time: number };

/** What the first message of a task carries, as JSON text. */
export interface Script {
  readonly name: string;
  readonly actions: readonly Action[];
}

export type Sending = "own-client" | "stream" | "send";

/** Everything that is decided about one task before it begins. */
export interface TaskPlan extends Script {
  readonly sending: Sending;
  readonly webhook: boolean;
  /** A second reader that takes its time. */
  readonly slowReader: boolean;
  /** Cancel when this many events have been seen; absent: never. */
  readonly cancelAfter?: number;
  /** How each question is answered: whether the send waits, and whether a second answer is sent at the same time. */
  readonly answers: readonly AnswerPlan[];
}

export interface AnswerPlan {
  readonly waits: boolean;
  readonly twice: boolean;
}

/** The kinds of action, each as often as it is to be chosen. */
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
      // More than is kept in memory for readers, and than sockets hold.
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

/** What is done to the processes and connections of a run, `at` milliseconds after its begin. */
export interface Trouble {
  readonly at: number;
  readonly do: "kill" | "term" | "stop" | "stop-client" | "stop-receiver" | "cut" | "stall";
  /** Milliseconds that a stop or a stall lasts. */
  readonly time: number;
  /** Which client, where one is meant. */
  readonly pick: number;
}

export interface TroubleOptions {
  readonly kills: number;
  /** Milliseconds. */
  readonly duration: number;
}

/** The kills at even distances, give or take, and the other troubles between them. */
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
