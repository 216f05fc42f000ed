import type { Bus } from "../bus/contract.ts";
import { createNatsBus } from "../bus/nats/bus.ts";
import { loadNatsDriver, type NatsAddress } from "../bus/nats/driver.ts";
import type { Logger } from "../internal/logger.ts";
import { messageOf, StartupError } from "./startup-error.ts";

const DEFAULT_PORT = "4222";

/**
 * Reads `nats://USER:PASSWORD@HOST:PORT`, `nats://TOKEN@HOST` or `tls://…`, several addresses separated by commas, and `?creds=FILE`. `nats:` alone: the
 * address in `NATS_URL`. Throws a {@link StartupError} that contains no password.
 */
export function natsAddress(spec: string, environment: Readonly<Record<string, string | undefined>>): NatsAddress {
  const isAlone = spec === "nats:";
  const text = isAlone ? environment["NATS_URL"] : spec;
  if (text === undefined || text === "")
    throw new StartupError("usage", "The bus nats: needs the address of the NATS server in NATS_URL.");
  const urls = text.split(",").map((part) => URL.parse(part.trim()));
  const valid = urls.filter((url) => url !== null && /^(?:nats|tls):$/.test(url.protocol) && url.hostname !== "");
  const [first] = valid;
  if (first === undefined || first === null || valid.length !== urls.length) {
    throw new StartupError(
      "usage",
      `${isAlone ? "NATS_URL" : "The bus"} is not a valid address. Write nats://USER:PASSWORD@HOST:PORT, and encode special characters such as @ as %40.`,
    );
  }
  const [user, password] = [decodeURIComponent(first.username), decodeURIComponent(first.password)];
  const credentials = first.searchParams.get("creds");
  return {
    servers: valid.flatMap((url) => (url === null ? [] : [`${url.hostname}:${url.port || DEFAULT_PORT}`])),
    tls: first.protocol === "tls:",
    ...(user !== "" && (password === "" ? { token: user } : { user, password })),
    ...(credentials !== null && { credentials }),
  };
}

/** Opens the bus that `spec` names. It need not reach its server yet. `name`: see `NatsBusOptions`. Rejects with a {@link StartupError}. */
export async function openNats(spec: string, name: string): Promise<(logger: Logger) => Bus> {
  const address = natsAddress(spec, process.env);
  const connect = await loadNatsDriver().catch((error: unknown) => {
    throw new StartupError("failed", messageOf(error), { cause: error });
  });
  return (logger) => createNatsBus({ connect, address, name, logger });
}
