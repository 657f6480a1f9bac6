/** Task `filter`: compiles the groups of a server into its filter, and applies that to its machine. */
import { SECOND_MS } from '../../kernel/time.ts';
import { ComputeError } from '../../ports/compute.ts';
import type { Filter, FilterRule } from '../../ports/network.ts';
import type { FirewallGroup, FirewallRule } from '../../spec/schemas/firewall.ts';
import { readServerFilter, type ServerFilterRow } from '../../store/firewall.ts';
import type { TaskResult } from '../../store/tasks.ts';
import type { Service } from '../context.ts';
import { withDriverTimeout } from '../servers/operations/driver-call.ts';
import { portRanges } from './check.ts';

/** The retry interval while a machine is being installed. */
const INSTALL_RETRY_MS = SECOND_MS;

/** Done once the machine has the filter. Driver errors are left to the task's retry. */
export async function applyFilter(service: Service, serverId: string): Promise<TaskResult> {
  const server = await readServerFilter(service.db, serverId);
  // A machine that is being destroyed keeps its current filter.
  if (!server || server.status === 'destroying') return 'done';
  if (server.first_run_at === null) return await applyDuringInstall(service, serverId, server);
  await setFilter(service, serverId, server);
  return 'done';
}

/**
 * The machine may not exist yet, or may move to another host. Applies the filter as early as possible, and
 * again until the machine has run.
 */
async function applyDuringInstall(
  service: Service,
  serverId: string,
  server: ServerFilterRow,
): Promise<TaskResult> {
  if (server.status === 'installing') {
    try {
      await setFilter(service, serverId, server);
    } catch (error) {
      if (!(error instanceof ComputeError)) throw error;
    }
  }
  return { againMs: INSTALL_RETRY_MS };
}

/** Reads the filter that a new machine of the server has from the start. */
export async function readFilter(service: Service, serverId: string): Promise<Filter | null> {
  return compileFilter((await readServerFilter(service.db, serverId))?.groups ?? []);
}

async function setFilter(service: Service, serverId: string, server: ServerFilterRow): Promise<void> {
  await withDriverTimeout(service.compute.filter(serverId, compileFilter(server.groups)));
}

type AppliedGroup = Pick<FirewallGroup, 'default_action'> & {
  readonly rules: readonly Pick<FirewallRule, 'direction' | 'proto' | 'port' | 'source' | 'action'>[];
};

/**
 * Compiles the filter in front of a server (DECISIONS "Firewall"). Expects `groups` in the order of
 * attachment and concatenates their rules. `drop` wins as the default. The default applies to outbound
 * traffic only if a group has an outbound rule. Without groups there is no filter.
 */
export function compileFilter(groups: readonly AppliedGroup[]): Filter | null {
  if (groups.length === 0) return null;
  const defaultAction = groups.some((group) => group.default_action === 'drop') ? 'drop' : 'accept';
  const rules = groups.flatMap((group) => group.rules);
  return {
    rules: rules.map(compileRule),
    defaultIn: defaultAction,
    defaultOut: rules.some((rule) => rule.direction === 'out') ? defaultAction : 'accept',
  };
}

function compileRule({ direction, proto, port, source, action }: AppliedGroup['rules'][number]): FilterRule {
  return { direction, proto, ports: port === null ? [] : portRanges(port), remote: source, action };
}
