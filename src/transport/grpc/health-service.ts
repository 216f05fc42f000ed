import type { GrpcDialects } from "../../wire/grpc.ts";
import { frame } from "../../wire/grpc-frame.ts";
import type { Endpoint } from "../endpoint.ts";
import type { Exchange, PullSource, Reply } from "../exchange.ts";
import type { GrpcService } from "./endpoint.ts";
import { messageOf, plainRefusal } from "./plain-message.ts";
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
      let service: string;
      try {
        service = await serviceIn(exchange);
      } catch (error) {
        return plainRefusal(error, "HealthCheckRequest");
      }
      const first = await statusOf(service);
      if (method === "Watch") {
        const source = new HealthWatch(first, () => statusOf(service), answer);
        return { status: 200, headers: HEADERS, source, trailers: () => trailersOf(undefined) };
      }
      if (first === "SERVICE_UNKNOWN") return statusReply({ code: NOT_FOUND, message: "Unknown service" });
      return { status: 200, headers: HEADERS, body: answer(first), trailers: trailersOf(undefined) };
    },
  };
}

/** Sends the status, and sends it again whenever it changes. */
class HealthWatch implements PullSource<Uint8Array<ArrayBuffer>> {
  #last: ServingStatus | undefined;
  #next: ServingStatus;
  #timer: NodeJS.Timeout | undefined;
  #stop: (() => void) | undefined;
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
    while (this.#next === this.#last) {
      const isStopped = await new Promise<boolean>((resolve) => {
        this.#stop = () => resolve(true);
        this.#timer = setTimeout(() => resolve(false), WATCH_INTERVAL).unref();
      });
      if (isStopped) return undefined;
      this.#next = await this.#check();
    }
    this.#last = this.#next;
    return this.#answer(this.#next);
  }

  cancel(): void {
    clearTimeout(this.#timer);
    this.#stop?.();
  }
}
