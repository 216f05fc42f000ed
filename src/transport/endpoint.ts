import type { Dialects } from "../wire/dialects.ts";
import type { Answers } from "./answers/answers.ts";
import type { CardSigning } from "./card/card-route.ts";
import type { TransportEnvironment } from "./options.ts";
import type { StreamRegistry } from "./streams/stream-registry.ts";

/** What all bindings of one HTTP handler share. */
export interface Endpoint {
  readonly environment: TransportEnvironment;
  readonly streams: StreamRegistry;
  readonly answers: Answers;
  readonly dialects: Dialects;
  /** Absent: cards are not signed. */
  readonly cardSigning?: CardSigning | undefined;
}
