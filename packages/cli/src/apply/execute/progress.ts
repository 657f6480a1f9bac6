/** What a run knows on its way: how far each item is, and which servers do not run yet. */
import type { Action, PlanItem } from '../plan/plan.ts';
import type { ActionContext } from './execute-action.ts';
import type { ItemState, RunContext } from './state.ts';

export interface RunProgress {
  readonly run: RunContext;
  readonly context: ActionContext;
  /** In the plan's order; each is replaced as it goes on. */
  readonly states: ItemState[];
  /** Names of servers of the file that were made or are being installed, and were not seen running since. */
  readonly notRunning: Set<string>;
  readonly deadlineMs: number;
}

/** What is lost by it does not come back. */
const DESTRUCTIVE: readonly Action['do'][] = [
  'rebuild_server',
  'delete_volume',
  'destroy_server',
  'delete_group',
];
/** What the next run does when the server does not run in this one. A volume stays where it is until then. */
const NEEDS_RUNNING: readonly Action['do'][] = ['stop_server', 'detach_volume', 'attach_volume', 'set_rdns'];

/** Why this act is not to be done now; undefined: it is. */
export function findBlock(
  act: Action,
  { item }: ItemState,
  progress: RunProgress,
): Partial<ItemState> | undefined {
  const { run, states, notRunning } = progress;
  if (run.signal.aborted) return { status: 'left', message: 'interrupted' };
  if (act.do === 'create_server') return blockByFirewall(act.server.name, states);
  if (DESTRUCTIVE.includes(act.do))
    return blockByFailure(states, notRunning, 'destroyed') ?? blockByVolumes(act, states);
  if (act.do === 'apply_group') return undefined;
  for (const name of requiredServers(item)) {
    const serverStates = states.filter(
      (other) => other.item.kind === 'server' && concernsServer(other.item, name),
    );
    const others = serverStates.filter((server) => server.item !== item);
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
  return act.do === 'stop_server' ? blockByFailure(states, notRunning, 'stopped') : undefined;
}

/** A machine is not to be on the Internet without the filter that the file gives it. */
function blockByFirewall(name: string, states: readonly ItemState[]): Partial<ItemState> | undefined {
  const group = states.find(
    ({ item, status }) =>
      status !== 'open' && item.actions.some((act) => act.do === 'apply_group' && act.servers.includes(name)),
  );
  return group && { status: 'skipped', message: `firewall group ${group.item.name} failed` };
}

/** A server whose volumes were not taken from it yet. */
function blockByVolumes(act: Action, states: readonly ItemState[]): Partial<ItemState> | undefined {
  if (act.do !== 'destroy_server') return undefined;
  const waits = states.find(
    ({ item, status }) =>
      status !== 'open' && item.actions.some((one) => one.do === 'stop_server' && one.id === act.id),
  );
  return waits && { status: 'left', message: `${waits.item.kind} ${waits.item.name} was left, too` };
}

function blockByFailure(
  states: readonly ItemState[],
  notRunning: ReadonlySet<string>,
  what: 'destroyed' | 'stopped',
): Partial<ItemState> | undefined {
  if (states.some(({ status }) => status === 'failed' || status === 'skipped')) {
    return { status: 'left', message: `nothing is ${what} after something failed` };
  }
  if (notRunning.size === 0) return undefined;
  const names = [...notRunning].join(', ');
  const message = `nothing is ${what} before ${names} ${notRunning.size === 1 ? 'runs' : 'run'}: the next run does it`;
  return { status: 'left', message };
}

/** Names of the servers that an item needs running. */
function requiredServers({ actions }: PlanItem): string[] {
  return actions.flatMap((act) => (act.do === 'attach_volume' || act.do === 'set_rdns' ? [act.server] : []));
}

/** Not the one of that name that goes. */
function concernsServer({ name, changeType }: PlanItem, server: string): boolean {
  return name === server && changeType !== 'destroy';
}
