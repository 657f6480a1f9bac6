/**
 * Reports on the chains for the operator, with the action to take. Asks the nodes and drivers, and reads
 * the stored state of the polls.
 */
import { summarizeError } from '../../../kernel/logger.ts';
import { DAY_MS, formatSessionTime, HOUR_MS, MINUTE_MS, SECOND_MS } from '../../../kernel/time.ts';
import { withTimeout } from '../../../kernel/timeout.ts';
import type { ChainDriver, ChainFinding, ChainHealth } from '../../../ports/chain.ts';
import type { CoinCode } from '../../../spec/coins.ts';
import { type CoinRow, cursorHeight, listCoinRows } from '../../../store/topups/coins.ts';
import type { Service } from '../../context.ts';
import type { Finding } from '../../health/status.ts';

/** A single failure recovers within seconds; this many in a row do not. */
const FAILURES_WARNING = 10;
/** The node is always slightly ahead of the reader. */
const LAG_BLOCKS = 10;

/**
 * Queries the nodes of all accepted coins concurrently, each with a timeout. `subject` is the coin's code;
 * coins are in the order of the service's chains.
 */
export async function chainFindings(
  service: Pick<Service, 'db' | 'clock' | 'chains'>,
  options: { readonly patienceMs?: number } = {},
): Promise<Finding[]> {
  const now = service.clock.now();
  const states = await readChains(service, options);
  const orphaned = (await orphanedCoins(service)).map((subject): Finding => {
    const message = 'the node is no longer configured: payments to addresses already given out are not seen';
    return { level: 'note', subject, message };
  });
  return [...states.flatMap((state) => findingsOf(state, now)), ...orphaned];
}

function findingsOf(state: ChainState, now: Date): Finding[] {
  const subject = state.coin;
  const finding = ({ level, message }: ChainFinding): Finding => ({ level, subject, message });
  return [
    ...proofFindings(state),
    ...nodeFindings(state, now),
    ...readFindings(state),
    ...driverFindings(state),
  ].map(finding);
}

function proofFindings({ proof }: ChainState): ChainFinding[] {
  if ('value' in proof) return [];
  return [{ level: 'fail', message: `the check of the node failed: ${proof.fault}` }];
}

function nodeFindings({ proof, health }: ChainState, now: Date): ChainFinding[] {
  if ('fault' in health) {
    const alreadyReported = 'fault' in proof && proof.fault === health.fault;
    return alreadyReported ? [] : [{ level: 'fail', message: `the node does not respond: ${health.fault}` }];
  }
  const { ok, height, tipAt, detail } = health.value;
  const age = tipAt === null ? '' : `, mined ${formatAge(now.getTime() - tipAt.getTime())}`;
  return [{ level: ok ? 'ok' : 'fail', message: `block ${height}${age}: ${detail}` }];
}

/** Reports the workers' polls, which may differ from the node's current state. */
function readFindings(state: ChainState): ChainFinding[] {
  const { health, readHeight, readAt, failures, lastFault, addressCount } = state;
  const until = readAt === null ? 'never read completely' : `read up to ${formatSessionTime(readAt)} UTC`;
  if (failures > 0) {
    const polls = failures === 1 ? 'the last poll failed' : `${failures} polls failed in a row`;
    const why = lastFault === null ? '' : `: ${lastFault}`;
    return [{ level: failures >= FAILURES_WARNING ? 'fail' : 'note', message: `${polls}, ${until}${why}` }];
  }
  if (readHeight === null || 'fault' in health) {
    return addressCount === 0
      ? [{ level: 'note', message: 'no address has been given out yet, so there is nothing to read' }]
      : [];
  }
  const missing = health.value.height - readHeight;
  if (missing < 0) {
    const message =
      `the node is at block ${health.value.height}, but was already read up to ${readHeight}; ` +
      'waiting for it to catch up';
    return [{ level: 'fail', message }];
  }
  if (missing > LAG_BLOCKS)
    return [{ level: 'note', message: `${missing} blocks are not read yet; ${until}` }];
  return [];
}

function driverFindings({ proof, notes }: ChainState): ChainFinding[] {
  if ('value' in notes) return [...notes.value];
  // The check of the node already reported this.
  return 'fault' in proof ? [] : [{ level: 'fail', message: `the examination failed: ${notes.fault}` }];
}

const UNITS: readonly (readonly [word: string, ms: number])[] = [
  ['day', DAY_MS],
  ['hour', HOUR_MS],
  ['minute', MINUTE_MS],
];

/** Formats an age such as `4 minutes ago`, in the largest unit. A block's time may be ahead of ours. */
function formatAge(ms: number): string {
  const [word, unit] = UNITS.find(([, each]) => ms >= each) ?? ['', 0];
  if (unit === 0) return 'just now';
  const count = Math.floor(ms / unit);
  return `${count} ${word}${count === 1 ? '' : 's'} ago`;
}

/** The first query of a node includes a check, which takes time. */
const TIMEOUT_MS = 15 * SECOND_MS;

/** A value, or the reason why there is none, for the operator. */
export type NodeAnswer<T> = { readonly value: T } | { readonly fault: string };

export interface ChainState {
  readonly coin: CoinCode;
  /** Whether the node is safe to use. */
  readonly proof: NodeAnswer<true>;
  readonly health: NodeAnswer<ChainHealth>;
  readonly notes: NodeAnswer<readonly ChainFinding[]>;
  /** Number of addresses given out. */
  readonly addressCount: number;
  /** The last block read; null: none. */
  readonly readHeight: number | null;
  readonly readAt: Date | null;
  /** Consecutive failed polls, and the reason of the last. */
  readonly failures: number;
  readonly lastFault: string | null;
}

/** Reads all accepted coins concurrently. `patienceMs` is the timeout of every query. */
export async function readChains(
  service: Pick<Service, 'db' | 'chains'>,
  { patienceMs = TIMEOUT_MS } = {},
): Promise<readonly ChainState[]> {
  const stored = new Map((await listCoinRows(service.db)).map((row) => [row.code, row]));
  const taken = [...service.chains];
  return await Promise.all(
    taken.map(([coin, driver]) => readChainState({ coin, driver, row: stored.get(coin), patienceMs })),
  );
}

/** Returns coins with addresses given out but without a reader. */
export async function orphanedCoins(service: Pick<Service, 'db' | 'chains'>): Promise<readonly CoinCode[]> {
  const rows = await listCoinRows(service.db);
  return rows.filter(({ code }) => !service.chains.has(code)).map(({ code }) => code);
}

async function readChainState(options: {
  readonly coin: CoinCode;
  readonly driver: ChainDriver;
  readonly row: CoinRow | undefined;
  readonly patienceMs: number;
}): Promise<ChainState> {
  const { coin, driver, row, patienceMs } = options;
  const addressCount = row?.next_index ?? 0;
  const proof = await tryNode(async () => {
    await driver.checkSafety();
    return true as const;
  }, patienceMs);
  const [health, notes] = await Promise.all([
    tryNode(() => driver.health(), patienceMs),
    tryNode(() => driver.examine(addressCount), patienceMs),
  ]);
  return {
    coin,
    proof,
    health,
    notes,
    addressCount,
    readHeight: cursorHeight(row?.cursor ?? null),
    readAt: row?.read_at ?? null,
    failures: row?.failures ?? 0,
    lastFault: row?.last_fault ?? null,
  };
}

async function tryNode<T>(call: () => Promise<T>, patienceMs: number): Promise<NodeAnswer<T>> {
  try {
    return { value: await withTimeout(call(), patienceMs) };
  } catch (error) {
    return { fault: summarizeError(error) };
  }
}
