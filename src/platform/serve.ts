import type { Agent } from "../engine/agent/agent.ts";
import { createDialects } from "../wire/dialects.ts";
import { type BannerFacts, banner, plainBanner } from "./banner.ts";
import { createServer, type Server } from "./create-server.ts";
import { type ServerOptions, settingsFrom } from "./settings/settings.ts";
import { packageVersion } from "./version.ts";

/** Options of `serve`. */
export interface ServeOptions extends ServerOptions {
  /** Print the served agents and example commands on standard output. Default false. */
  readonly banner?: boolean;
}

/** A listening server. */
export interface RunningServer extends Server {
  /** URL of the server on this machine, without a trailing slash. */
  readonly url: string;
}

/** From container runtimes and supervisors, and from Ctrl+C. */
const STOP_SIGNALS = ["SIGTERM", "SIGINT"] as const;

/**
 * Serves agents until the process gets SIGTERM or SIGINT. The server then rejects new work, lets running tasks continue for `drainTimeout`, and
 * exits with code 0; a second signal exits at once. Rejects with a `StartupError` whose message says what to fix.
 */
export async function serve(agents: Agent | readonly Agent[], options: ServeOptions = {}): Promise<RunningServer> {
  const server = createServer(agents, options);
  const ignoreSignals = stopOnSignals(server);
  try {
    const { url, publicUrl, storage, grpc, consoleUrl } = await server.listen();
    if (options.banner === true) {
      const facts = {
        url,
        publicUrl,
        agents: "id" in agents ? [agents] : agents,
        interfaces: createDialects(settingsFrom(options).dialects).interfaces(url, grpc ? {} : undefined),
        storage,
        consoleUrl,
        version: packageVersion(),
        pid: process.pid,
        schemes: schemesOf(options),
      };
      process.stdout.write(process.stdout.isTTY ? banner(facts) : plainBanner(facts));
    }
    return {
      ...server,
      url,
      close() {
        ignoreSignals();
        return server.close();
      },
    };
  } catch (error) {
    // A signal during the start wins: it exits with code 0.
    await server.close();
    ignoreSignals();
    throw error;
  }
}

function schemesOf({ security }: ServeOptions): BannerFacts["schemes"] {
  const schemes = Object.entries(security?.schemes ?? {});
  return Object.fromEntries(schemes.map(([name, { scheme }]) => [name, scheme]));
}

/** Returns a function that removes the listeners. */
function stopOnSignals(server: Server): () => void {
  let stopping = false;
  const stop = (): void => {
    if (stopping) process.exit(1);
    stopping = true;
    server.close().then(
      () => process.exit(0),
      // The server has logged the error; the exit code reports it to the supervisor.
      () => process.exit(1),
    );
  };
  for (const signal of STOP_SIGNALS) process.on(signal, stop);
  return () => {
    for (const signal of STOP_SIGNALS) process.off(signal, stop);
  };
}
