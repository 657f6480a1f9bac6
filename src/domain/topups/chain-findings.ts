/** Reports on the chains for the operator, with the action to take. */
import { DAY_MS, formatSessionTime, HOUR_MS, MINUTE_MS } from '../../kernel/time.ts';
import type { Service } from '../context.ts';
import type { Finding } from '../status.ts';
import { type ChainState, orphanedCoins, readChains } from './chains.ts';

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

type ChainFinding = Pick<Finding, 'level' | 'message'>;

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
