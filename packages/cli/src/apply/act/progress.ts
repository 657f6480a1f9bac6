/** What a run knows on its way: how far each item is, and which servers do not run yet. */
import type { Act, Item } from '../plan/plan.ts';
import type { Hands } from './act.ts';
import type { Run, State } from './state.ts';

export interface Progress {
  readonly run: Run;
  readonly hands: Hands;
  /** In the plan's order; each is replaced as it goes on. */
  readonly states: State[];
  /** Names of servers of the file that were made or are being installed, and were not seen running since. */
  readonly notRunning: Set<string>;
  readonly deadlineMs: number;
}

/** What is lost by it does not come back. */
const DESTROYING: readonly Act['do'][] = [
  'rebuild_server',
  'delete_volume',
  'destroy_server',
  'delete_group',
];
/** What the next run does when the server does not run in this one. A volume stays where it is until then. */
const NEEDS_RUNNING: readonly Act['do'][] = ['stop_server', 'detach_volume', 'attach_volume', 'set_rdns'];

/** Why this act is not to be done now; undefined: it is. */
export function barOf(act: Act, { item }: State, progress: Progress): Partial<State> | undefined {
  const { run, states, notRunning } = progress;
  if (run.signal.aborted) return { status: 'left', message: 'interrupted' };
  if (act.do === 'create_server') return unfiltered(act.server.name, states);
  if (DESTROYING.includes(act.do)) return whyKept(states, notRunning, 'destroyed') ?? whyNeeded(act, states);
  if (act.do === 'apply_group') return undefined;
  for (const name of serversOf(item)) {
    const same = states.filter((other) => other.item.kind === 'server' && isMade(other.item, name));
    const others = same.filter((server) => server.item !== item);
    if (others.some(({ status }) => status === 'failed' || status === 'skipped')) {
      return { status: 'skipped', message: `server ${name} failed` };
    }
    if (others.some(({ status }) => status === 'left'))
      return { status: 'left', message: `server ${name} was left, too` };
    if (NEEDS_RUNNING.includes(act.do) && notRunning.has(name)) {
      return { status: 'left', message: `server ${name} does not run yet: the next run does the rest` };
    }
  }
  // What runs on it would stand still, and nothing come of it: it is destroyed in a run in which nothing fails.
  return act.do === 'stop_server' ? whyKept(states, notRunning, 'stopped') : undefined;
}

/** A machine is not to be on the Internet without the filter that the file gives it. */
function unfiltered(name: string, states: readonly State[]): Partial<State> | undefined {
  const group = states.find(
    ({ item, status }) =>
      status !== 'open' && item.acts.some((act) => act.do === 'apply_group' && act.servers.includes(name)),
  );
  return group && { status: 'skipped', message: `firewall group ${group.item.name} failed` };
}

/** A server whose volumes were not taken from it yet. */
function whyNeeded(act: Act, states: readonly State[]): Partial<State> | undefined {
  if (act.do !== 'destroy_server') return undefined;
  const waits = states.find(
    ({ item, status }) =>
      status !== 'open' && item.acts.some((one) => one.do === 'stop_server' && one.id === act.id),
  );
  return waits && { status: 'left', message: `${waits.item.kind} ${waits.item.name} was left, too` };
}

function whyKept(
  states: readonly State[],
  notRunning: ReadonlySet<string>,
  what: 'destroyed' | 'stopped',
): Partial<State> | undefined {
  if (states.some(({ status }) => status === 'failed' || status === 'skipped')) {
    return { status: 'left', message: `nothing is ${what} after something failed` };
  }
  if (notRunning.size === 0) return undefined;
  const names = [...notRunning].join(', ');
  const message = `nothing is ${what} before ${names} ${notRunning.size === 1 ? 'runs' : 'run'}: the next run does it`;
  return { status: 'left', message };
}

/** Names of the servers that an item needs running. */
function serversOf({ acts }: Item): string[] {
  return acts.flatMap((act) => (act.do === 'attach_volume' || act.do === 'set_rdns' ? [act.server] : []));
}

/** Not the one of that name that goes. */
function isMade({ name, sign }: Item, server: string): boolean {
  return name === server && sign !== 'destroy';
}
