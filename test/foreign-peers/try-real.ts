import { AWAITED } from "./awaited.ts";
import { startPalaver } from "./client-agent.ts";
import { RUN_CLIENT } from "./client-scenarios.ts";
import { CLIENTS } from "./clients.ts";
import { CLIENT_SCENARIOS, type Expectation, SERVER_SCENARIOS } from "./peer.ts";
import type { Modules, RealClient, RealServer } from "./real/real-peer.ts";
import { runServer } from "./server-scenarios.ts";
import { SERVERS } from "./servers.ts";

/** The result of one scenario with a real package, next to the expected result. */
export interface Row {
  readonly scenario: string;
  readonly expected: Expectation;
  /** The cell does not work yet: it is expected to fail, whatever `expected` says. */
  readonly isAwaited: boolean;
  /** Why the scenario failed. */
  readonly error?: string;
}

/** Timeout of one scenario in milliseconds: some libraries wait forever. */
const PATIENCE = 20_000;

export async function tryClient(real: RealClient, modules: Modules): Promise<readonly Row[]> {
  const peer = CLIENTS.find(({ name }) => name === real.name);
  if (peer === undefined) throw new Error(`No script exists for the client ${real.name}.`);
  const open = await real.load(modules);
  const palaver = await startPalaver();
  const rows: Row[] = [];
  for (const scenario of CLIENT_SCENARIOS) {
    const error = await errorOf(RUN_CLIENT[scenario]({ ...peer, open }, palaver.url));
    rows.push(rowOf(`${real.name} client: ${scenario}`, peer.expected[scenario], error));
  }
  await palaver.close();
  return rows;
}

export async function tryServer(real: RealServer, modules: Modules): Promise<readonly Row[]> {
  const peer = SERVERS.find(({ name }) => name === real.name);
  if (peer === undefined) throw new Error(`No script exists for the server ${real.name}.`);
  const running = await (await real.load(modules))();
  const rows: Row[] = [];
  for (const scenario of SERVER_SCENARIOS) {
    const error = await errorOf(runServer(scenario, running));
    rows.push(rowOf(`${real.name} server: ${scenario}`, peer.expected[scenario], error));
  }
  await running.close();
  return rows;
}

/** True if the scenario passed and was expected to fail, or the other way round. */
export function isDifferent({ expected, isAwaited, error }: Row): boolean {
  return (error === undefined) !== (expected === "works" && !isAwaited);
}

function rowOf(cell: string, expected: Expectation, error: string | undefined): Row {
  const scenario = cell.slice(cell.indexOf(": ") + 2);
  return { scenario, expected, isAwaited: AWAITED.has(cell), ...(error !== undefined && { error }) };
}

async function errorOf(work: Promise<void>): Promise<string | undefined> {
  const late = Promise.withResolvers<never>();
  const timer = setTimeout(
    () => late.reject(new Error(`The scenario did not finish within ${PATIENCE} ms.`)),
    PATIENCE,
  );
  try {
    await Promise.race([work, late.promise]);
    return undefined;
  } catch (error) {
    return error instanceof Error ? error.message : JSON.stringify(error);
  } finally {
    clearTimeout(timer);
  }
}
