import fc from "fast-check";
import { expect, it } from "vitest";
import { sampled } from "../../../../test/fixtures/budget.ts";
import type { AgentCard } from "../../../protocol/card.ts";
import { A2AError, ERROR_CODES } from "../../../protocol/error.ts";
import type { Operation } from "../../../protocol/operation.ts";
import { isInterrupted } from "../../../protocol/state.ts";
import type { ClientCodec } from "../../client/client-codec.ts";
import type { Codec } from "../../codec.ts";
import { openingFrame, place, storedEvent } from "./frames.ts";
import { event, message, SAMPLES, stored, task } from "./models.ts";

/** Server and client codec of one dialect of 0.2 or 0.3. `card`: generates cards of its version. */
export interface Ends {
  readonly server: Codec;
  readonly client: ClientCodec;
  readonly card: fc.Arbitrary<AgentCard>;
}

/** Declares tests that the client codec decodes what the server codec encodes. */
export function itReadsAnswers({ server, client, card }: Ends): void {
  const read = (operation: Operation, text: string) => client.decodeResult(operation, JSON.parse(text));

  it("decodes to the encoded tasks and messages", () => {
    fc.assert(
      fc.property(task, message, (made, reply) => {
        const kept = stored(made);
        expect(read("send", server.encodeResult({ kind: "sent", task: kept }))).toEqual({ kind: "sent", task: made });
        expect(read("get", server.encodeResult({ kind: "task", task: kept }))).toEqual({ kind: "task", task: made });
        const replied = read("send", server.encodeResult({ kind: "replied", message: reply }));
        expect(replied).toEqual({ kind: "replied", message: reply });
        const opening = openingFrame(server, { kind: "task", task: kept });
        expect(client.decodeEvent(opening)).toEqual({ kind: "task", task: made });
        const only = openingFrame(server, { kind: "message", message: reply });
        expect(client.decodeEvent(only)).toEqual({ kind: "message", message: reply });
      }),
      SAMPLES,
    );
  });

  it("decodes to the encoded events", () => {
    fc.assert(
      fc.property(event, place, (source, { final, ...ids }) => {
        // No stream ends with an artifact.
        const here = { ...ids, final: source.kind === "status" && final };
        const frame: unknown = JSON.parse(server.encodeEvent(storedEvent(source), here));
        const goesOn = source.kind === "status" && !final && isInterrupted(source.status.state);
        expect(client.decodeEvent(frame)).toEqual({ ...source, ...here, ...(goesOn && { moreFollows: true }) });
      }),
      { ...SAMPLES, numRuns: sampled(40, 300) },
    );
  });

  it("decodes to the encoded cards", () => {
    fc.assert(
      fc.property(card, (declared) => {
        const answer = read("extended-card", server.encodeResult({ kind: "card", card: declared }));
        expect(answer).toEqual({ kind: "card", card: declared });
      }),
      SAMPLES,
    );
  });

  it.each(ERROR_CODES)("decodes to the encoded error %s", (code) => {
    const violations = [{ field: "a", description: "b" }];
    const metadata = { taskId: "t", requiredExtensions: "urn:a,urn:b" };
    const error = new A2AError(code, "No", { metadata, violations });
    const decoded = client.decodeError(JSON.parse(server.encodeError(error)), server.statusOf(error));
    // Two errors share this reason.
    const expected = code === "unsupported-media-type" ? "content-type-not-supported" : code;
    expect(decoded).toMatchObject({ code: expected, message: "No", metadata, violations });
  });
}
