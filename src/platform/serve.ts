import type { Agent } from "../engine/agent/agent.ts";
import { createDialects } from "../wire/dialects.ts";
import { type BannerFacts, banner, plainBanner } from "./banner.ts";
import { createServer, type Server } from "./create-server.ts";
import { type ServerOptions, settingsFrom } from "./settings/settings.ts";
import { packageVersion } from "./version.ts";

export interface ServeOptions extends ServerOptions {
  /** Say on standard output what is served and what to try. Default false. */
  readonly banner?: boolean;
}

export interface RunningServer extends Server {
  /** Where it is reached, without a slash at the end. */
  readonly url: string;
}

const STOP_SIGNALS = ["SIGTERM", "SIGINT"] as const;

/**
 * Serves agents until the process is told to stop. SIGTERM or SIGINT refuse new work, let running tasks go on for
 * `drainTimeout`, and exit with 0; a second one exits at once. Rejects with a `StartupError` that says what to mend.
 */
export async function serve(agents: Agent | readonly Agent[], options: ServeOptions = {}): Promise<RunningServer> {
  const server = createServer(agents, options);
  const ignoreSignals = stopOnSignals(server);
  try {
    const { url, publicUrl, storage } = await server.listen();
    if (options.banner === true) {
      const facts = {
        url,
        publicUrl,
        agents: "id" in agents ? [agents] : agents,
        interfaces: createDialects(settingsFrom(options).dialects).interfaces(url),
        storage,
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
    // A signal that came during the start has its say first: it exits with 0.
    await server.close();
    ignoreSignals();
    throw error;
  }
}

function schemesOf({ security }: ServeOptions): BannerFacts["schemes"] {
  const schemes = Object.entries(security?.schemes ?? {});
  return Object.fromEntries(schemes.map(([name, { scheme }]) => [name, scheme]));
}

/** Returns how to undo it. */
function stopOnSignals(server: Server): () => void {
  let stopping = false;
  const stop = (): void => {
    if (stopping) process.exit(1);
    stopping = true;
    server.close().then(
      () => process.exit(0),
      // Logged by the server; what matters now is that the supervisor learns of it.
      () => process.exit(1),
    );
  };
  for (const signal of STOP_SIGNALS) process.on(signal, stop);
  return () => {
    for (const signal of STOP_SIGNALS) process.off(signal, stop);
  };
}
