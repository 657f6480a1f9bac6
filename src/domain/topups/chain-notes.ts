/** The chains in words: what whoever runs the service should know of them, and what he should do about it. */
import { DAY_MS, HOUR_MS, MINUTE_MS, sessionTime } from '../../kernel/time.ts';
import type { Service } from '../context.ts';
import type { Finding } from '../status.ts';
import { type ChainState, forsakenCoins, readChains } from './chains.ts';

/** A single failure passes within seconds; so many in a row do not. */
const FAILED_OFTEN = 10;
/** The node is always a little ahead of what was read. */
const BEHIND_BLOCKS = 10;

/**
 * Asks the node of every coin that is taken, all at once and each no longer than the patience. `what` is the coin's code, and the
 * coins come in the order of the service's chains.
 */
export async function chainNotes(
  service: Pick<Service, 'db' | 'clock' | 'chains'>,
  options: { readonly patienceMs?: number } = {},
): Promise<Finding[]> {
  const now = service.clock.now();
  const states = await readChains(service, options);
  const forsaken = (await forsakenCoins(service)).map((what): Finding => {
    const says = 'it has no node any more, and addresses were given out: what is paid to them is not seen';
    return { level: 'note', what, says };
  });
  return [...states.flatMap((state) => notesOf(state, now)), ...forsaken];
}

function notesOf(state: ChainState, now: Date): Finding[] {
  const what = state.coin;
  const finding = ({ level, says }: Said): Finding => ({ level, what, says });
  return [...proof(state), ...node(state, now), ...reading(state), ...driverNotes(state)].map(finding);
}

type Said = Pick<Finding, 'level' | 'says'>;

function proof({ proof }: ChainState): Said[] {
  if ('value' in proof) return [];
  return [{ level: 'look', says: `the node could not be proven: ${proof.fault}` }];
}

function node({ proof, health }: ChainState, now: Date): Said[] {
  if ('fault' in health) {
    const said = 'fault' in proof && proof.fault === health.fault;
    return said ? [] : [{ level: 'look', says: `the node cannot be asked: ${health.fault}` }];
  }
  const { ok, height, tipAt, detail } = health.value;
  const age = tipAt === null ? '' : `, made ${ageText(now.getTime() - tipAt.getTime())}`;
  return [{ level: ok ? 'ok' : 'look', says: `block ${height}${age}: ${detail}` }];
}

/** What became of the polls, which workers do: it need not be what the node says now. */
function reading(state: ChainState): Said[] {
  const { health, readHeight, readAt, failures, lastFault, given } = state;
  const until = readAt === null ? 'never read whole' : `read up to ${sessionTime(readAt)} UTC`;
  if (failures > 0) {
    const polls = failures === 1 ? 'the last poll failed' : `${failures} polls failed in a row`;
    const why = lastFault === null ? '' : `: ${lastFault}`;
    return [{ level: failures >= FAILED_OFTEN ? 'look' : 'note', says: `${polls}, ${until}${why}` }];
  }
  if (readHeight === null || 'fault' in health) {
    return given === 0 ? [{ level: 'note', says: 'no address was given out yet, so nothing is read' }] : [];
  }
  const missing = health.value.height - readHeight;
  if (missing < 0) {
    const says = `the node is at block ${health.value.height}, and was read up to ${readHeight} before: it is waited for`;
    return [{ level: 'look', says }];
  }
  if (missing > BEHIND_BLOCKS)
    return [{ level: 'note', says: `${missing} blocks are not read yet, ${until}` }];
  return [];
}

function driverNotes({ proof, notes }: ChainState): Said[] {
  if ('value' in notes) return [...notes.value];
  // What was said of the node need not be said again.
  return 'fault' in proof ? [] : [{ level: 'look', says: `it could not be examined: ${notes.fault}` }];
}

const UNITS: readonly (readonly [word: string, ms: number])[] = [
  ['day', DAY_MS],
  ['hour', HOUR_MS],
  ['minute', MINUTE_MS],
];

/** `4 minutes ago`: whole ones of the largest unit. A block's time may be ahead of ours. */
function ageText(ms: number): string {
  const [word, unit] = UNITS.find(([, each]) => ms >= each) ?? ['', 0];
  if (unit === 0) return 'just now';
  const count = Math.floor(ms / unit);
  return `${count} ${word}${count === 1 ? '' : 's'} ago`;
}
