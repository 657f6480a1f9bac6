/** The state of a run: the progress of each item, and the servers that are not running yet. */
import type { Action, PlanItem } from '../plan/plan.ts';
import type { ActionContext } from './execute-action.ts';
import type { ItemState, RunContext } from './state.ts';

export interface RunProgress {
  readonly run: RunContext;
  readonly context: ActionContext;
  /** In the plan's order; each is replaced when its state changes. */
  readonly states: ItemState[];
  /** Names of servers in the file that were created or are being installed, and not seen running since. */
  readonly notRunning: Set<string>;
  readonly deadlineMs: number;
}

/** Actions that lose data permanently. */
const DESTRUCTIVE: readonly Action['do'][] = [
  'rebuild_server',
  'delete_volume',
  'destroy_server',
  'delete_group',
  'delete_alert',
];
/** Left to the next run if the server is not running in this one. Until then, a volume stays attached. */
const NEEDS_RUNNING: readonly Action['do'][] = ['stop_server', 'detach_volume', 'attach_volume', 'set_rdns'];

/** Returns why the action must not run now; undefined: it may. */
export function findBlock(
  act: Action,
  { item }: ItemState,
  progress: RunProgress,
): Partial<ItemState> | undefined {
  const { run, states, notRunning } = progress;
  if (run.signal.aborted) return { status: 'left', message: 'interrupted' };
  if (act.do === 'create_server') {
    return blockByFirewall(act.server.name, states) ?? blockByNewVolume(act.volumes, states);
  }
  if (DESTRUCTIVE.includes(act.do))
    return blockByFailure(states, notRunning, 'deleted') ?? blockByVolumes(act, states);
  if (act.do === 'create_alert') return blockByServers(act.alert.servers, progress);
  if (act.do === 'update_alert') return blockByServers(act.servers, progress);
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
      return { status: 'left', message: `server ${name} was left as well` };
    if (NEEDS_RUNNING.includes(act.do) && notRunning.has(name)) {
      return {
        status: 'left',
        message: `server ${name} is not running yet; run the command again to continue`,
      };
    }
  }
  // Without the deletion that follows, stopping would only cause downtime: do it in a run without failures.
  return act.do === 'stop_server' ? blockByFailure(states, notRunning, 'stopped') : undefined;
}

/** A server must not be on the internet without the firewall that the file defines. */
function blockByFirewall(name: string, states: readonly ItemState[]): Partial<ItemState> | undefined {
  const group = states.find(
    ({ item, status }) =>
      status !== 'open' && item.actions.some((act) => act.do === 'apply_group' && act.servers.includes(name)),
  );
  return group && { status: 'skipped', message: `firewall group ${group.item.name} failed` };
}

/** The order attaches the volumes, so they must exist. */
function blockByNewVolume(
  names: readonly string[],
  states: readonly ItemState[],
): Partial<ItemState> | undefined {
  const volume = states.find(
    ({ item, status }) => status !== 'open' && item.kind === 'volume' && names.includes(item.name),
  );
  return volume && { status: 'skipped', message: `volume ${volume.item.name} failed` };
}

/** An alert watches servers that exist; they need not run yet. */
function blockByServers(
  names: readonly string[] = [],
  { context }: RunProgress,
): Partial<ItemState> | undefined {
  const missing = names.find((name) => context.ids.find('server', name) === undefined);
  return missing === undefined ? undefined : { status: 'skipped', message: `server ${missing} failed` };
}

/** Blocks the deletion of a server while its volumes are still attached. */
function blockByVolumes(act: Action, states: readonly ItemState[]): Partial<ItemState> | undefined {
  if (act.do !== 'destroy_server') return undefined;
  const waits = states.find(
    ({ item, status }) =>
      status !== 'open' && item.actions.some((one) => one.do === 'stop_server' && one.id === act.id),
  );
  return waits && { status: 'left', message: `${waits.item.kind} ${waits.item.name} was left as well` };
}

function blockByFailure(
  states: readonly ItemState[],
  notRunning: ReadonlySet<string>,
  verb: 'deleted' | 'stopped',
): Partial<ItemState> | undefined {
  if (states.some(({ status }) => status === 'failed' || status === 'skipped')) {
    return { status: 'left', message: `nothing is ${verb} after a failure` };
  }
  if (notRunning.size === 0) return undefined;
  const names = [...notRunning].join(', ');
  const are = notRunning.size === 1 ? 'is' : 'are';
  const message = `nothing is ${verb} until ${names} ${are} running; run the command again to continue`;
  return { status: 'left', message };
}

/** Names of the servers that an item needs running. */
function requiredServers({ actions }: PlanItem): string[] {
  return actions.flatMap((act) => (act.do === 'attach_volume' || act.do === 'set_rdns' ? [act.server] : []));
}

/** Excludes a server of the same name that is deleted. */
function concernsServer({ name, changeType }: PlanItem, server: string): boolean {
  return name === server && changeType !== 'destroy';
}
