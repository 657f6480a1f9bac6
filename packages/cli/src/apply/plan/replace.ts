/** Replaces an existing server: decides which of its settings the new one takes over. */
import type { Quote } from '@skerry/sdk';
import type { ActualServer } from '../actual.ts';
import type { ActualBackups } from '../backups.ts';
import type { Placed, WantedServer } from '../desired.ts';
import { REPLACED_LABEL, USER_DATA_LABEL, userLabels } from '../labels.ts';
import { mergeBackups } from './backups.ts';
import { orderServer } from './install.ts';
import { changeOf } from './plan.ts';
import {
  type CompareContext,
  changeServer,
  describeDetachedVolumes,
  destroyActions,
  diffRdns,
  rdnsActions,
  type ServerComparison,
  suspendedFaults,
} from './server.ts';

const FAMILIES = ['ipv4', 'ipv6'] as const;

export function compareServer(
  wanted: Placed<WantedServer>,
  found: ActualServer,
  context: CompareContext,
): ServerComparison {
  const changes = [
    ...(wanted.plan === found.plan ? [] : [`plan: ${found.plan} → ${wanted.plan}`]),
    ...(wanted.region === found.region ? [] : [`region: ${found.region} → ${wanted.region}`]),
  ];
  const quote = wanted.region === found.region ? context.actual.resizes?.get(found.id) : undefined;
  if (quote) return resizeServer(wanted, found, context, quote);
  if (changes.length > 0) return replaceServer(wanted, found, context, changes);
  const before = findPredecessor(found, context.own);
  return changeServer(before ? withRdns(wanted, before, found) : wanted, found, context);
}

/** A refused resize replaces nothing. The balance is checked for the whole plan. */
function resizeServer(
  wanted: Placed<WantedServer>,
  found: ActualServer,
  context: CompareContext,
  { refusal, errors }: Quote,
): ServerComparison {
  const { name, plan } = wanted;
  const isOnlyUnpaid = errors.some(({ issue }) => issue === 'insufficient_balance');
  if (refusal !== null && !isOnlyUnpaid) {
    const message = `cannot be resized to plan ${plan}: ${refusal.message}`;
    return { items: [], faults: [{ place: `${wanted.place}.plan`, message, exit: 'refused' }], notes: [] };
  }
  const others = changeServer(wanted, { ...found, plan }, context, true);
  const restarts = found.status === 'running' ? ', and the server restarts' : '';
  const reason = `plan: ${found.plan} → ${plan}; the disk keeps its size${restarts}`;
  const action = { do: 'resize_server', id: found.id, plan } as const;
  const [item = changeOf('server', name, { id: found.id, reasons: [], actions: [] }), ...rest] = others.items;
  const resized = { ...item, reasons: [reason, ...item.reasons], actions: [action, ...item.actions] };
  return { ...others, items: [resized, ...rest] };
}

function replaceServer(
  wanted: Placed<WantedServer>,
  found: ActualServer,
  context: CompareContext,
  changes: readonly string[],
): ServerComparison {
  const { name } = wanted;
  const { actual, desired, own } = context;
  const replacement = inheritSettings(wanted, found, actual.backups?.get(found.id));
  const months = wanted.billingMonths ?? found.billing_months;
  const order = orderServer(replacement, actual, desired, months);
  const faults = [...order.faults, ...suspendedFaults(wanted, found, false)];
  if (!order.action) return { items: [], faults, notes: [] };
  const labels = { ...found.labels, [REPLACED_LABEL]: nextReplacedMark(name, own) };
  const item = changeOf('server', name, {
    changeType: 'replace',
    id: found.id,
    reasons: [
      ...changes,
      'a new server with other IP addresses is created; then this one is deleted, and its paid time is lost',
      ...describeCarriedOver(wanted, found),
      ...describeLeftBehind(wanted, found),
      ...describeDetachedVolumes(found, context),
    ],
    destroys: `server ${name}`,
    actions: [
      { do: 'mark_replaced', id: found.id, labels },
      order.action,
      { do: 'wait_server', server: name },
      ...rdnsActions(name, diffRdns(replacement, null)),
      ...destroyActions(found, context),
    ],
  });
  return { items: [item], faults, notes: [] };
}

/** A replacement keeps the settings that the file omits. */
function inheritSettings(
  wanted: Placed<WantedServer>,
  old: ActualServer,
  backups: ActualBackups | undefined,
): Placed<WantedServer> {
  return {
    ...withRdns(wanted, old, null),
    tags: wanted.tags ?? old.tags,
    labels: wanted.labels ?? userLabels(old.labels),
    autoRenew: wanted.autoRenew ?? old.auto_renew,
    backups: wanted.backups && backups ? mergeBackups(wanted.backups, backups) : wanted.backups,
    // The successor of a server that runs must run.
    start: old.status === 'stopped' ? wanted.start : undefined,
    // A service before API 1.7 has no protection.
    protection: old.protection && { ...old.protection, ...wanted.protection },
  };
}

/** `found` may already have reverse DNS names of its own. */
function withRdns(
  wanted: Placed<WantedServer>,
  old: ActualServer,
  found: ActualServer | null,
): Placed<WantedServer> {
  const hostOf = (family: 'ipv4' | 'ipv6') =>
    inheritsRdns(wanted, old, family) && !found?.[family]?.rdns ? old[family]?.rdns : wanted.rdns[family];
  return { ...wanted, rdns: { ipv4: hostOf('ipv4'), ipv6: hostOf('ipv6') } };
}

function inheritsRdns({ rdns }: WantedServer, old: ActualServer, family: 'ipv4' | 'ipv6'): boolean {
  return rdns[family] === undefined && Boolean(old[family]?.rdns);
}

function describeCarriedOver(wanted: WantedServer, old: ActualServer): string[] {
  const things = [
    ...(wanted.tags === undefined && old.tags.length > 0 ? ['tags'] : []),
    ...(wanted.labels === undefined && Object.keys(userLabels(old.labels)).length > 0 ? ['labels'] : []),
    ...(wanted.autoRenew === undefined && !old.auto_renew ? ['auto_renew: false'] : []),
    ...(wanted.protection?.rebuild === undefined && old.protection?.rebuild ? ['protection: rebuild'] : []),
    ...FAMILIES.flatMap((family) => (inheritsRdns(wanted, old, family) ? [`rdns ${family}`] : [])),
  ];
  return things.length > 0 ? [`carried over: ${things.join(', ')}`] : [];
}

function describeLeftBehind(wanted: WantedServer, old: ActualServer): string[] {
  const { address, rdns_records: records = {} } = old.ipv6 ?? {};
  const names = Object.keys(records).filter((one) => one !== address).length;
  const digest = old.labels[USER_DATA_LABEL];
  return [
    ...(wanted.userData === undefined
      ? [
          digest === undefined
            ? 'installed without user data: the file has none, and the current user data cannot be read'
            : `the user data of the installation (${digest}) is not in the file and is not carried over`,
        ]
      : []),
    ...(wanted.backups === undefined
      ? ['its backup policy is not carried over: the file has no backups']
      : []),
    ...(names > 0 ? [`reverse DNS of ${names} more IPv6 addresses is not carried over`] : []),
  ];
}

/** Returns a number above all existing marks. */
function nextReplacedMark(name: string, own: readonly ActualServer[]): string {
  const marks = own.flatMap((server) => (server.name === name ? getReplacedMark(server) : []));
  return String(Math.max(0, ...marks) + 1);
}

/** Returns the server that an interrupted run was replacing with this one. */
export function findPredecessor(found: ActualServer, own: readonly ActualServer[]): ActualServer | undefined {
  if (isMarkedReplaced(found)) return undefined;
  const marked = own.filter((server) => server.name === found.name && isMarkedReplaced(server));
  return marked.sort((one, other) => getReplacedMark(other) - getReplacedMark(one))[0];
}

export function isMarkedReplaced({ labels }: ActualServer): boolean {
  return labels[REPLACED_LABEL] !== undefined;
}

export function getReplacedMark({ labels }: ActualServer): number {
  return Number(labels[REPLACED_LABEL]) || 0;
}
