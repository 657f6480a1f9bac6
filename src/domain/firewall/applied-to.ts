/** Applies a group to servers. `applied_to` is always replaced as a whole. */
import { fail, unknownReference } from '../../kernel/fail.ts';
import { parseId } from '../../kernel/ids.ts';
import type { Sql } from '../../kernel/sql.ts';
import type { FirewallGroup } from '../../spec/schemas/firewall.ts';
import { can, type ServerAction } from '../../spec/states.ts';
import { attachServers, type CandidateRow, detachServers, lockCandidates } from '../../store/firewall.ts';
import type { CustomerActor, Service } from '../context.ts';
import { recordEvent } from '../record.ts';
import { driverCapabilities } from '../servers/hardware.ts';

/** The servers named in `applied_to`, and the rows found for them, locked. */
interface RequestedServers {
  /** In list order; undefined for a text that is not a server id. */
  readonly ids: readonly (string | undefined)[];
  readonly byId: ReadonlyMap<string, CandidateRow>;
}

/** Locks the servers. Call this before locking the group. `groupId` is null for a new group. */
export async function lockRequestedServers(
  tx: Sql,
  actor: CustomerActor,
  shownIds: readonly string[],
  groupId: string | null,
): Promise<RequestedServers> {
  const ids = shownIds.map((shown) => parseId('server', shown));
  const known = ids.filter((id) => id !== undefined);
  const rows = await lockCandidates(tx, actor.customerId, known, groupId);
  return { ids, byId: new Map(rows.map((row) => [row.id, row])) };
}

export interface AppliedChange {
  readonly added: readonly string[];
  readonly removed: readonly string[];
}

/**
 * Replaces the list; servers that stay keep their position. Fails with `conflict_state` if an added server
 * cannot be changed or a removed one is frozen, with `unknown_reference` for another customer's server, and
 * with `unavailable` for hardware without a filter.
 */
export async function replaceAppliedTo(
  tx: Sql,
  service: Service,
  group: { readonly id: string; readonly appliedTo: readonly string[] },
  named: RequestedServers,
): Promise<AppliedChange> {
  const ids = named.ids.filter((id) => id !== undefined);
  const added = [...new Set(ids)].filter((id) => !group.appliedTo.includes(id));
  const removed = group.appliedTo.filter((id) => !ids.includes(id));
  if (added.some((id) => isActionForbidden(named.byId.get(id), 'update'))) {
    fail(
      'conflict_state',
      {},
      'A server in the list is being deleted or is frozen by the operator. Remove it from the list.',
    );
  }
  if (removed.some((id) => isActionForbidden(named.byId.get(id), 'detach'))) {
    fail(
      'conflict_state',
      {},
      'A server that the group is applied to is frozen by the operator. Keep it in the list until it is ' +
        'unfrozen.',
    );
  }
  for (const [index, id] of named.ids.entries()) {
    const field = `applied_to.${index}` as const;
    const server = id === undefined ? undefined : named.byId.get(id);
    if (!server) unknownReference(field);
    if (!driverCapabilities(service.compute, server.category).filter) {
      fail('unavailable', { field }, 'The hardware of this server has no packet filter outside the guest.');
    }
  }
  if (removed.length > 0) await detachServers(tx, group.id, removed);
  if (added.length > 0) await attachServers(tx, group.id, added);
  return { added, removed };
}

function isActionForbidden(server: CandidateRow | undefined, action: ServerAction): boolean {
  if (!server) return false;
  return !can({ status: server.status, suspendedReason: server.suspended_reason }, action);
}

/** Records one `firewall.applied` event per newly attached server. */
export async function recordApplied(
  tx: Sql,
  actor: CustomerActor,
  change: AppliedChange & { readonly object: FirewallGroup },
  now: Date,
): Promise<void> {
  const event = { customerId: actor.customerId, type: 'firewall.applied', object: change.object } as const;
  for (const _server of change.added) await recordEvent(tx, event, now);
}
