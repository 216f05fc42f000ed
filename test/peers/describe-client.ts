import { beforeAll, describe, it } from "vitest";
import { type Binding, type ClientLine, whyNot } from "./client-line.ts";
import { columnTitle } from "./expected-matrix.ts";
import type { PeerServer } from "./peer-server.ts";
import { Stage } from "./scenario.ts";
import { SCENARIOS } from "./scenarios.ts";

/** Puts a client through everything over one binding. One column of the matrix. */
export function describeClient(line: ClientLine, binding: Binding, server: () => PeerServer): void {
  describe(columnTitle(line, binding), () => {
    let stage: Stage;
    beforeAll(() => {
      const { url, gates } = server();
      stage = new Stage({ line, binding, url, gates });
    });

    for (const { title, scenarios } of SCENARIOS) {
      describe(title, () => {
        for (const { operation, needs, run } of scenarios) {
          it(operation, async ({ skip }) => {
            const reason = whyNot(line, binding, needs);
            if (reason !== undefined) skip(reason);
            await run(stage);
          });
        }
      });
    }
  });
}
