// A preview of 1.1, from the branch `dev-1.1` of the specification: everything is as in 1.0, except `generation`. Drafts that the branch does not
// contain yet, such as the timeline of a task, are left out.

import type { RestCodec, RpcCodec } from "../codec.ts";
import type { DialectSettings } from "../options.ts";
import { createVariantRestCodec, createVariantRpcCodec, type Variant } from "../v1_0/codec.ts";
import { encodeEvent, encodeOpening } from "./event.ts";
import { decodeRequest } from "./request.ts";
import { paramsOf } from "./rest-request.ts";
import { encodeTask } from "./task.ts";

const VARIANT: Variant = { version: "1.1", encodeOpening, encodeEvent, encodeTask, decodeRequest, paramsOf };

export function createRpcCodec(): RpcCodec {
  return createVariantRpcCodec(VARIANT);
}

export function createRestCodec(settings: DialectSettings): RestCodec {
  return createVariantRestCodec(settings, VARIANT);
}
