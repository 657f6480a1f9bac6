/** Applies a group to servers. */
import { fail, notFound, unknownReference } from '../../kernel/fail.ts';
import { parseId } from '../../kernel/ids.ts';
import type { Sql } from '../../kernel/sql.ts';
import type { FirewallGroup, FirewallGroupPatch } from '../../spec/schemas/firewall.ts';
import { can, type ServerAction } from '../../spec/states.ts';
import {
  attachServers,
  type CandidateRow,
  detachServers,
  findGroup,
  lockCandidates,
  lockGroup,
} from '../../store/firewall.ts';
import { enqueueTask } from '../../store/tasks.ts';
import type { CustomerActor, Service } from '../context.ts';
import { recordEvent } from '../record.ts';
import { driverCapabilities } from '../servers/hardware.ts';
import { groupObject } from './read.ts';

type ServerList = 'applied_to' | 'attach' | 'detach';
/** The servers of a request: the whole list, and those to add to it and to remove from it. */
type ServerLists = Pick<FirewallGroupPatch, ServerList>;

/** The servers that a request names, and the rows found for them, locked. */
interface RequestedServers {
  /** In list order; undefined for a text that is not a server id. */
  readonly lists: { readonly [List in ServerList]: readonly (string | undefined)[] | undefined };
  readonly byId: ReadonlyMap<string, CandidateRow>;
}

/** Locks the servers. Call this before locking the group. `groupId` is null for a new group. */
export async function lockRequestedServers(
  tx: Sql,
  actor: CustomerActor,
  request: ServerLists,
  groupId: string | null,
): Promise<RequestedServers> {
  const parse = (shown: string) => parseId('server', shown);
  const lists = {
    applied_to: request.applied_to?.map(parse),
    attach: request.attach?.map(parse),
    detach: request.detach?.map(parse),
  };
  const named = Object.values(lists).filter((ids) => ids !== undefined);
  if (named.length === 0) return { lists, byId: new Map() };
  const known = named.flat().filter((id) => id !== undefined);
  const rows = await lockCandidates(tx, actor.customerId, known, lists.applied_to ? groupId : null);
  return { lists, byId: new Map(rows.map((row) => [row.id, row])) };
}

interface AppliedChange {
  readonly added: readonly string[];
  readonly removed: readonly string[];
}

/**
 * Changes the list; servers that stay keep their position. Fails with `conflict_state` if an added server
 * cannot be changed or a removed one is frozen, with `unknown_reference` for another customer's server, and
 * with `unavailable` for hardware without a filter.
 */
export async function changeAppliedTo(
  tx: Sql,
  service: Service,
  group: {
    readonly id: string;
    readonly appliedTo: readonly string[];
    /** Servers that a limited token cannot reach, and so cannot remove by leaving them out. */
    readonly hidden?: readonly string[];
  },
  requested: RequestedServers,
): Promise<AppliedChange> {
  const { lists, byId } = requested;
  const detached = new Set(lists.detach);
  const listed = lists.applied_to ? [...(group.hidden ?? []), ...lists.applied_to] : group.appliedTo;
  const kept = listed.filter((id) => !detached.has(id));
  const wanted = [...kept, ...(lists.attach ?? [])];
  const known = wanted.filter((id) => id !== undefined);
  const added = [...new Set(known)].filter((id) => !group.appliedTo.includes(id));
  const removed = group.appliedTo.filter((id) => !known.includes(id));
  if (added.some((id) => isActionForbidden(byId.get(id), 'update'))) {
    fail(
      'conflict_state',
      {},
      'A server in the list is being deleted or is frozen by the operator. Remove it from the list.',
    );
  }
  if (removed.some((id) => isActionForbidden(byId.get(id), 'detach'))) {
    fail(
      'conflict_state',
      {},
      'A server that the group is applied to is frozen by the operator. Keep the group applied to it until ' +
        'it is unfrozen.',
    );
  }
  requireServers(service, requested);
  if (removed.length > 0) await detachServers(tx, group.id, removed);
  if (added.length > 0) await attachServers(tx, group.id, added);
  return { added, removed };
}

function requireServers(service: Service, { lists, byId }: RequestedServers): void {
  for (const list of ['applied_to', 'attach', 'detach'] as const) {
    for (const [index, id] of (lists[list] ?? []).entries()) {
      const field = `${list}.${index}` as const;
      const server = id === undefined ? undefined : byId.get(id);
      if (!server) unknownReference(field);
      if (list === 'detach' || driverCapabilities(service.compute, server.category).filter) continue;
      throwWithoutFilter(field);
    }
  }
}

function throwWithoutFilter(field: string): never {
  fail('unavailable', { field }, 'The hardware of this server has no packet filter outside the guest.');
}

function isActionForbidden(server: CandidateRow | undefined, action: ServerAction): boolean {
  if (!server) return false;
  return !can({ status: server.status, suspendedReason: server.suspended_reason }, action);
}

/**
 * Applies groups to a server that the transaction has just created. `shownIds` are in the order of
 * evaluation. Fails with `unknown_reference`, and with `unavailable` for hardware without a filter.
 */
export async function applyToNewServer(
  tx: Sql,
  service: Service,
  actor: CustomerActor,
  server: { readonly id: string; readonly category: 'vps' | 'dedicated'; readonly now: Date },
  shownIds: readonly string[],
): Promise<void> {
  const { customerId } = actor;
  const ids = await resolveOrderedGroups(service, server.category, shownIds, (id) => {
    return lockGroup(tx, customerId, id);
  });
  for (const id of new Set(ids)) {
    await attachServers(tx, id, [server.id]);
    const group = (await findGroup(tx, customerId, id)) ?? notFound('firewallGroup');
    await recordApplied(
      tx,
      actor,
      { added: [server.id], removed: [], object: groupObject(group) },
      server.now,
    );
  }
  await enqueueTask(tx, { kind: 'filter', subject: server.id, now: server.now });
}

/** Returns the ids of an order's groups. Fails as `applyToNewServer` does; `find` finds or locks one. */
export async function resolveOrderedGroups(
  service: Pick<Service, 'compute'>,
  category: 'vps' | 'dedicated',
  shownIds: readonly string[],
  find: (id: string) => Promise<unknown>,
): Promise<readonly string[]> {
  if (!driverCapabilities(service.compute, category).filter) throwWithoutFilter('firewall_groups');
  const ids = shownIds.map((shown, index) => {
    return parseId('firewallGroup', shown) ?? unknownReference(`firewall_groups.${index}`);
  });
  // In the order of their ids, so that two orders never wait for each other.
  for (const id of ids.toSorted()) {
    const found = await find(id);
    if (!found) unknownReference(`firewall_groups.${ids.indexOf(id)}`);
  }
  return ids;
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
