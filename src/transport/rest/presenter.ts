import type { Presenter } from "../call/answer-call.ts";
import { presentStream } from "../sse/present-stream.ts";
import { presentError } from "../text/present-error.ts";
import { presentResult } from "../text/present-result.ts";
import { readRestRequest } from "./read-request.ts";
import type { RestCall } from "./rest-call.ts";

/** HTTP+JSON; streams are Server-Sent Events of bare JSON. */
export const REST_PRESENTER: Presenter<RestCall> = {
  read: readRestRequest,
  result: presentResult,
  stream: (endpoint, call, stream) => presentStream(endpoint, call, { ...stream, namesEvents: false }),
  error: presentError,
};
