import type { GrpcDialects } from "../../wire/grpc.ts";
import { frame } from "../../wire/grpc-frame.ts";
import type { Endpoint } from "../endpoint.ts";
import type { Exchange, Reply } from "../exchange.ts";
import type { GrpcService } from "./endpoint.ts";
import { messageOf, plainRefusal } from "./plain-message.ts";
import { openPlainStream, type PlainSource } from "./plain-stream.ts";
import { GRPC_TYPE, NOT_FOUND, statusReply, trailersOf, UNIMPLEMENTED } from "./status.ts";

export const HEALTH_SERVICE = "grpc.health.v1.Health";

export interface HealthOptions {
  readonly endpoint: Endpoint;
  readonly dialects: GrpcDialects;
  /** The services whose health may be asked for, besides the server as a whole. */
  readonly services: readonly string[];
  /** Rejects if the server cannot work. */
  readonly ready: () => Promise<void>;
}

type ServingStatus = "SERVING" | "NOT_SERVING" | "SERVICE_UNKNOWN";
const HEADERS = { "content-type": GRPC_TYPE };
/** Milliseconds between two checks for a caller that watches. */
const WATCH_INTERVAL = 5000;

/** The health check of load balancers and of Kubernetes: the same answer as `/readyz`. */
export function createHealthService(options: HealthOptions): GrpcService {
  const { dialects } = options;
  const request = dialects.type("grpc.health.v1.HealthCheckRequest");
  const response = dialects.type("grpc.health.v1.HealthCheckResponse");
  const known = new Set(["", ...options.services]);
  const statusOf = async (service: string): Promise<ServingStatus> => {
    if (!known.has(service)) return "SERVICE_UNKNOWN";
    return options.ready().then(
      () => "SERVING",
      () => "NOT_SERVING",
    );
  };
  const answer = (status: ServingStatus): Uint8Array<ArrayBuffer> => frame(response.encode({ status }));
  const serviceIn = async (exchange: Exchange): Promise<string> => {
    const { service = "" } = (await messageOf(exchange, options.endpoint, request)) as { readonly service?: string };
    return service;
  };
  return {
    unlimited: true,
    async handle(exchange, method): Promise<Reply> {
      if (method !== "Check" && method !== "Watch") return statusReply(UNIMPLEMENTED);
      try {
        const service = await serviceIn(exchange);
        const first = await statusOf(service);
        if (method === "Watch") {
          const watch = new HealthWatch(first, () => statusOf(service), answer);
          const source = openPlainStream(options.endpoint, exchange, watch);
          return { status: 200, headers: HEADERS, source, trailers: () => trailersOf(undefined) };
        }
        if (first === "SERVICE_UNKNOWN") return statusReply({ code: NOT_FOUND, message: "Unknown service" });
        return { status: 200, headers: HEADERS, body: answer(first), trailers: trailersOf(undefined) };
      } catch (error) {
        return plainRefusal(error, "HealthCheckRequest");
      }
    },
  };
}

/** Sends the status, and sends it again whenever it changes. Ends with NOT_SERVING when the server shuts down. */
class HealthWatch implements PlainSource {
  #last: ServingStatus | undefined;
  #next: ServingStatus;
  #timer: NodeJS.Timeout | undefined;
  #wake: (() => void) | undefined;
  #isEnding = false;
  #isCancelled = false;
  readonly #check: () => Promise<ServingStatus>;
  readonly #answer: (status: ServingStatus) => Uint8Array<ArrayBuffer>;

  constructor(
    first: ServingStatus,
    check: () => Promise<ServingStatus>,
    answer: (status: ServingStatus) => Uint8Array<ArrayBuffer>,
  ) {
    this.#next = first;
    this.#check = check;
    this.#answer = answer;
  }

  async pull(): Promise<Uint8Array<ArrayBuffer> | undefined> {
    while (this.#next === this.#last && !this.#isEnding && !this.#isCancelled) {
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
        this.#timer = setTimeout(resolve, WATCH_INTERVAL).unref();
      });
      if (!this.#isEnding && !this.#isCancelled) this.#next = await this.#check();
    }
    if (this.#isEnding && this.#next !== "SERVICE_UNKNOWN") this.#next = "NOT_SERVING";
    if (this.#isCancelled || this.#next === this.#last) return undefined;
    this.#last = this.#next;
    return this.#answer(this.#next);
  }

  shutdown(): void {
    this.#isEnding = true;
    this.#stopWaiting();
  }

  cancel(): void {
    this.#isCancelled = true;
    this.#stopWaiting();
  }

  #stopWaiting(): void {
    clearTimeout(this.#timer);
    this.#wake?.();
  }
}
