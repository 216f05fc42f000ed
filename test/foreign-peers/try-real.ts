import { AWAITED } from "./awaited.ts";
import { startPalaver } from "./client-agent.ts";
import { RUN_CLIENT } from "./client-scenarios.ts";
import { CLIENTS } from "./clients.ts";
import { CLIENT_SCENARIOS, type Expectation, SERVER_SCENARIOS } from "./peer.ts";
import type { Modules, RealClient, RealServer } from "./real/real-peer.ts";
import { runServer } from "./server-scenarios.ts";
import { SERVERS } from "./servers.ts";

/** What came of one scenario with a real package, next to what was expected. */
export interface Row {
  readonly scenario: string;
  readonly expected: Expectation;
  /** The fix is not here yet: it is expected to fail, whatever `expected` says. */
  readonly isAwaited: boolean;
  /** Why it did not work. */
  readonly error?: string;
}

/** Milliseconds for one scenario: some libraries wait for ever. */
const PATIENCE = 20_000;

export async function tryClient(real: RealClient, modules: Modules): Promise<readonly Row[]> {
  const peer = CLIENTS.find(({ name }) => name === real.name);
  if (peer === undefined) throw new Error(`There is no script of the client ${real.name}.`);
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
  if (peer === undefined) throw new Error(`There is no script of the server ${real.name}.`);
  const running = await (await real.load(modules))();
  const rows: Row[] = [];
  for (const scenario of SERVER_SCENARIOS) {
    const error = await errorOf(runServer(scenario, running));
    rows.push(rowOf(`${real.name} server: ${scenario}`, peer.expected[scenario], error));
  }
  await running.close();
  return rows;
}

/** It worked and should not have, or the other way round. */
export function isDifferent({ expected, isAwaited, error }: Row): boolean {
  return (error === undefined) !== (expected === "works" && !isAwaited);
}

function rowOf(cell: string, expected: Expectation, error: string | undefined): Row {
  const scenario = cell.slice(cell.indexOf(": ") + 2);
  return { scenario, expected, isAwaited: AWAITED.has(cell), ...(error !== undefined && { error }) };
}

async function errorOf(work: Promise<void>): Promise<string | undefined> {
  const late = Promise.withResolvers<never>();
  const timer = setTimeout(() => late.reject(new Error(`It was not done after ${PATIENCE} ms.`)), PATIENCE);
  try {
    await Promise.race([work, late.promise]);
    return undefined;
  } catch (error) {
    return error instanceof Error ? error.message : JSON.stringify(error);
  } finally {
    clearTimeout(timer);
  }
}
