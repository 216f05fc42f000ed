import { describe, expect, it } from "vitest";
import { accepted, taskOf, text } from "./dialect-client.ts";
import { DIALECT_CLIENTS } from "./dialect-clients.ts";
import { inEveryDialect } from "./every-dialect.ts";
import { createGate } from "./gate.ts";
import { isTerminal } from "./neutral.ts";

const DEFAULTS = ["nothing", "wait", "return", 1] as const;

/** A server option decides, per dialect, whether a send waits that does not say. */
describe.each(DEFAULTS)("with blockingDefault %s", (value) => {
  // In 1.0 every send says whether to wait.
  const dialectClients = DIALECT_CLIENTS.filter(({ version }) => value === "nothing" || version !== "1.0").filter(
    // The field of 0.3 over gRPC has no presence: false is absent, so that no send can ask not to wait.
    ({ dialect }) => dialect !== "0.3/grpc" || value !== "wait",
  );
  const defaults = value === "nothing" ? [] : dialectClients.map(({ dialect }) => [dialect, value]);

  inEveryDialect(
    dialectClients,
    ({ dialectClient, caller, textToRun }) => {
      const { canAskToWait, waitsByDefault } = dialectClient.rules;
      const waits = value === "wait" || (value === "nothing" && waitsByDefault);

      it(`a send without a wait option ${waits ? "waits" : "does not wait"}; sends with one follow it`, async () => {
        const [gate, begun, never] = [createGate(), createGate(), createGate()];
        const opening = textToRun(async (task) => {
          begun.open();
          await gate.passed(task.signal);
        });
        const sending = taskOf(caller().send(text(opening)));
        await begun.passed(new AbortController().signal);
        if (waits) gate.open();
        const { id, status } = await sending;
        expect(isTerminal(status.state)).toBe(waits);
        const endless = textToRun(async (task) => never.passed(task.signal));
        expect(isTerminal((await taskOf(caller().send(text(endless), { wait: false }))).status.state)).toBe(false);
        gate.open();
        if (canAskToWait) {
          expect((await taskOf(caller().send(text(opening), { wait: true }))).status.state).toBe("completed");
        }
        if (dialectClient.rules.finishedSubscribe !== "snapshot") return;
        const frames = await (await accepted(caller().subscribe(id))).rest();
        expect(frames.length).toBeGreaterThan(0);
      });
    },
    { blockingDefault: Object.fromEntries(defaults) },
  );
});
