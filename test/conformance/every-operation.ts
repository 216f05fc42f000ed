import { type Caller, type DialectClient, type Outcome, text } from "./dialect-client.ts";

/** An operation on a task or on the agent. */
export interface Asking {
  readonly operation: string;
  /** Whether the operation needs an existing task. */
  readonly ofTask: boolean;
  ask(caller: Caller, taskId: string): Promise<Outcome<unknown>>;
}

/** All operations of a dialect. */
export function everyOperation({ rules }: DialectClient): readonly Asking[] {
  const url = "https://hooks.example.org/notify";
  return [
    { operation: "send", ofTask: false, ask: (caller) => caller.send(text("hi")) },
    { operation: "stream", ofTask: false, ask: (caller) => closed(caller.stream(text("hi"))) },
    { operation: "get", ofTask: true, ask: (caller, id) => caller.get(id) },
    { operation: "subscribe", ofTask: true, ask: (caller, id) => closed(caller.subscribe(id)) },
    { operation: "push create", ofTask: true, ask: (caller, id) => caller.pushCreate(id, url) },
    { operation: "push get", ofTask: true, ask: (caller, id) => caller.pushGet(id, "c") },
    ...(rules.managesPush ? MANAGING : []),
    ...(rules.list === "none" ? [] : LISTING),
    ...(rules.undeclaredExtendedCard === undefined ? [] : SHOWING),
    { operation: "cancel", ofTask: true, ask: (caller, id) => caller.cancel(id) },
  ];
}

const MANAGING: readonly Asking[] = [
  { operation: "push list", ofTask: true, ask: (caller, id) => caller.pushList(id) },
  { operation: "push delete", ofTask: true, ask: (caller, id) => caller.pushDelete(id, "c") },
];
const LISTING: readonly Asking[] = [{ operation: "list", ofTask: false, ask: (caller) => caller.list() }];
const SHOWING: readonly Asking[] = [
  { operation: "extended card", ofTask: false, ask: (caller) => caller.extendedCard() },
];

/** Returns the response that opened a stream, and closes the stream. */
async function closed(opening: Promise<Outcome<{ close(): Promise<void> }>>): Promise<Outcome<unknown>> {
  const outcome = await opening;
  if (outcome.ok) await outcome.value.close();
  return outcome;
}
