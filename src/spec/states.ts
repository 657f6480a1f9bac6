/**
 * Every state and every transition (SPEC "States and transitions", DECISIONS). All interfaces call
 * `can(server, 'reboot')`; no other code contains the rule.
 */
import type { EventType } from './events.ts';

export interface Transition<State extends string> {
  /** null: the resource does not exist yet. */
  readonly from: State | null;
  readonly trigger: string;
  /** null: the resource is deleted. */
  readonly to: State | null;
  readonly event?: EventType;
}

// ---- servers

export const SERVER_STATUSES = [
  'provisioning',
  'installing',
  'running',
  'stopped',
  'suspended',
  'destroying',
] as const;
export type ServerStatus = (typeof SERVER_STATUSES)[number];

export const SUSPENDED_REASONS = ['balance', 'not_renewed', 'operator', 'negative_balance'] as const;
export type SuspendedReason = (typeof SUSPENDED_REASONS)[number];

export const SERVER_TRANSITIONS = [
  { from: null, trigger: 'create', to: 'provisioning', event: 'server.created' },
  { from: 'provisioning', trigger: 'install_begins', to: 'installing' },
  { from: 'installing', trigger: 'install_completes', to: 'running', event: 'server.running' },
  // It was ordered with `start: false`.
  { from: 'installing', trigger: 'created_stopped', to: 'stopped', event: 'server.stopped' },
  { from: 'installing', trigger: 'rebuild_completes', to: 'running', event: 'server.rebuilt' },
  // The driver refused a rebuild or restore: the previous disk still exists, so the previous status returns.
  { from: 'installing', trigger: 'go_back_running', to: 'running' },
  { from: 'installing', trigger: 'go_back_stopped', to: 'stopped' },
  // The host was lost: the server is installed again on another one.
  { from: 'installing', trigger: 'host_lost', to: 'installing' },
  { from: 'running', trigger: 'host_lost', to: 'installing' },
  { from: 'stopped', trigger: 'host_lost', to: 'installing' },
  { from: 'suspended', trigger: 'host_lost', to: 'installing' },
  { from: 'running', trigger: 'rebuild', to: 'installing' },
  { from: 'stopped', trigger: 'rebuild', to: 'installing' },
  { from: 'running', trigger: 'restore', to: 'installing' },
  { from: 'stopped', trigger: 'restore', to: 'installing' },
  { from: 'running', trigger: 'reboot', to: 'running', event: 'server.rebooted' },
  { from: 'running', trigger: 'rescue', to: 'running', event: 'server.rebooted' },
  // Of its plan, at the request. It may go back to the previous one.
  { from: 'running', trigger: 'resize', to: 'running', event: 'server.resized' },
  { from: 'stopped', trigger: 'resize', to: 'stopped', event: 'server.resized' },
  { from: 'running', trigger: 'stop', to: 'stopped', event: 'server.stopped' },
  // The guest shut itself down.
  { from: 'running', trigger: 'guest_went_off', to: 'stopped', event: 'server.stopped' },
  { from: 'stopped', trigger: 'start', to: 'running' },
  { from: 'running', trigger: 'suspend', to: 'suspended', event: 'server.suspended' },
  { from: 'stopped', trigger: 'suspend', to: 'suspended', event: 'server.suspended' },
  { from: 'suspended', trigger: 'resume_running', to: 'running', event: 'server.running' },
  { from: 'suspended', trigger: 'resume_stopped', to: 'stopped' },
  // Its reason changes from `balance` to `not_renewed`.
  { from: 'suspended', trigger: 'auto_renew_off', to: 'suspended' },
  { from: 'provisioning', trigger: 'destroy', to: 'destroying' },
  { from: 'installing', trigger: 'destroy', to: 'destroying' },
  { from: 'running', trigger: 'destroy', to: 'destroying' },
  { from: 'stopped', trigger: 'destroy', to: 'destroying' },
  { from: 'suspended', trigger: 'destroy', to: 'destroying' },
  { from: 'destroying', trigger: 'destroy', to: 'destroying' },
  { from: 'destroying', trigger: 'destroyed', to: null, event: 'server.destroyed' },
] as const satisfies readonly Transition<ServerStatus>[];

/** The statuses that allow each operation (DECISIONS "Allowed from"). */
export const SERVER_ACTIONS = {
  reboot: ['running'],
  rescue: ['running'],
  stop: ['running'],
  console: ['running'],
  start: ['stopped', 'suspended'],
  rebuild: ['running', 'stopped'],
  restore: ['running', 'stopped'],
  resize: ['running', 'stopped'],
  insert_iso: ['running', 'stopped'],
  eject_iso: ['running', 'stopped'],
  set_boot: ['running', 'stopped'],
  snapshot: ['running', 'stopped'],
  attach: ['running', 'stopped'],
  // Detaches a volume, or removes the server from a firewall group.
  detach: SERVER_STATUSES,
  update: ['provisioning', 'installing', 'running', 'stopped', 'suspended'],
  protect: ['provisioning', 'installing', 'running', 'stopped', 'suspended'],
  destroy: SERVER_STATUSES,
} as const satisfies Record<string, readonly ServerStatus[]>;
export type ServerAction = keyof typeof SERVER_ACTIONS;

/**
 * Operations that a server suspended by the operator still accepts. Its protection must be one of them, or a
 * protected server could not be deleted.
 */
const ALLOWED_WHILE_FROZEN: readonly ServerAction[] = ['destroy', 'protect'];

/** Whether the server's state allows this action now. */
export function can(
  server: { readonly status: ServerStatus; readonly suspendedReason: SuspendedReason | null },
  action: ServerAction,
): boolean {
  const from: readonly ServerStatus[] = SERVER_ACTIONS[action];
  if (!from.includes(server.status)) return false;
  if (server.status !== 'suspended') return true;
  if (server.suspendedReason === 'operator') return ALLOWED_WHILE_FROZEN.includes(action);
  return action !== 'start' || server.suspendedReason === 'not_renewed';
}

/** Actions that run next to an operation in progress. Every other action waits until it is done. */
const ALLOWED_DURING_OPERATION: readonly ServerAction[] = [
  ...(['console', 'detach', 'update', 'protect', 'destroy'] as const),
];

export function mustWaitForOperation(action: ServerAction): boolean {
  return !ALLOWED_DURING_OPERATION.includes(action);
}

/** Why a suspended server refuses an action, and how to resume it. */
const SUSPENSION_MESSAGES: Record<SuspendedReason, string> = {
  balance:
    'This server is suspended because your balance did not cover its next cycle. ' +
    'Top up your balance: the server resumes automatically once it covers the next cycle.',
  not_renewed:
    'This server is suspended because its cycle ended and it was set not to renew. ' +
    'Start it to pay for another cycle and resume.',
  negative_balance:
    'This server is suspended because your balance is negative: a credited payment was reversed. ' +
    'Top up your balance: the server resumes automatically at $0.00 or more, and its paid time is not ' +
    'charged again.',
  operator: 'We have frozen this server. You can view or delete it, but not change it. Contact us.',
};

const ACTION_PHRASES: Record<ServerAction, string> = {
  reboot: 'restart it',
  rescue: 'boot its rescue system',
  stop: 'shut it down',
  console: 'open its console',
  start: 'start it',
  rebuild: 'rebuild it',
  restore: 'restore a snapshot',
  resize: 'resize it',
  insert_iso: 'insert an ISO image',
  eject_iso: 'eject its ISO image',
  set_boot: 'change its boot order',
  snapshot: 'create a snapshot',
  attach: 'attach a volume',
  detach: 'detach a volume',
  update: 'change it',
  protect: 'change its protection',
  destroy: 'delete it',
};

/** Explains why the server's state does not allow the action, and what to do. For use when `can` is false. */
export function explainDenial(
  server: { readonly status: ServerStatus; readonly suspendedReason: SuspendedReason | null },
  action: ServerAction,
): string {
  const { status, suspendedReason } = server;
  if (status === 'destroying') return 'This server is being deleted. No other action is possible.';
  if (status === 'suspended' && suspendedReason !== null) return SUSPENSION_MESSAGES[suspendedReason];
  // Only some suspended servers can be started; the messages above cover them.
  const from = SERVER_ACTIONS[action].filter((possible) => possible !== 'suspended');
  const phrase = ACTION_PHRASES[action];
  return `This server is ${status}. It must be ${from.join(' or ')} before you can ${phrase}.`;
}

// ---- top-ups

export const TOPUP_STATUSES = ['pending', 'confirming', 'credited', 'expired'] as const;
export type TopupStatus = (typeof TOPUP_STATUSES)[number];

export const TOPUP_TRANSITIONS = [
  { from: null, trigger: 'create', to: 'pending' },
  { from: 'pending', trigger: 'payment_seen', to: 'confirming', event: 'topup.pending' },
  { from: 'pending', trigger: 'time_is_up', to: 'expired', event: 'topup.expired' },
  { from: 'pending', trigger: 'cancel', to: 'expired' },
  { from: 'expired', trigger: 'payment_seen', to: 'confirming', event: 'topup.pending' },
  { from: 'confirming', trigger: 'confirmed', to: 'credited', event: 'topup.confirmed' },
  { from: 'confirming', trigger: 'payment_vanished', to: 'pending' },
  { from: 'confirming', trigger: 'payment_vanished_late', to: 'expired', event: 'topup.expired' },
  { from: 'credited', trigger: 'payment_unconfirmed', to: 'confirming', event: 'topup.pending' },
] as const satisfies readonly Transition<TopupStatus>[];

/** The fates of a payment whose credit was taken back, as its customer reads them. */
export const REVERSAL_FATES = {
  awaited: 'If the payment is confirmed again, we credit it again.',
  spent: 'The coins were spent in another transaction, so the payment cannot return.',
  moved: 'The payment is now in another block, and its exchange rate is lower there.',
} as const;
export type ReversalFate = keyof typeof REVERSAL_FATES;

/** Surface A's statuses of an invoice. `error` shows a withheld payment in the panel and billing tab. */
export const SESSION_TOPUP_STATUSES = [
  'waiting',
  'confirming',
  'confirmed',
  'expired',
  'cancelled',
  'error',
] as const;
export type SessionTopupStatus = (typeof SESSION_TOPUP_STATUSES)[number];

/** Returns surface A's status. A withheld payment is confirmed in accounting (SPEC, kill-switch). */
export function sessionTopupStatus(topup: {
  readonly status: TopupStatus;
  readonly cancelled: boolean;
  readonly withheld: boolean;
}): SessionTopupStatus {
  if (topup.withheld) return 'confirmed';
  if (topup.status === 'expired') return topup.cancelled ? 'cancelled' : 'expired';
  return ({ pending: 'waiting', confirming: 'confirming', credited: 'confirmed' } as const)[topup.status];
}

// ---- snapshots

export const SNAPSHOT_STATUSES = ['creating', 'ready', 'error'] as const;
export type SnapshotStatus = (typeof SNAPSHOT_STATUSES)[number];

export const SNAPSHOT_TRANSITIONS = [
  { from: null, trigger: 'create', to: 'creating' },
  { from: 'creating', trigger: 'finished', to: 'ready', event: 'snapshot.ready' },
  { from: 'creating', trigger: 'failed', to: 'error', event: 'snapshot.failed' },
  // The host was lost that had it.
  { from: 'creating', trigger: 'lost', to: 'error', event: 'snapshot.failed' },
  { from: 'ready', trigger: 'lost', to: 'error', event: 'snapshot.failed' },
  { from: 'ready', trigger: 'delete', to: null },
  { from: 'error', trigger: 'delete', to: null },
] as const satisfies readonly Transition<SnapshotStatus>[];

// ---- volumes

export const VOLUME_STATES = ['detached', 'attached'] as const;
export type VolumeState = (typeof VOLUME_STATES)[number];

export const VOLUME_TRANSITIONS = [
  { from: null, trigger: 'create', to: 'detached' },
  { from: 'detached', trigger: 'attach', to: 'attached', event: 'volume.attached' },
  { from: 'attached', trigger: 'detach', to: 'detached', event: 'volume.detached' },
  { from: 'attached', trigger: 'server_destroyed', to: 'detached', event: 'volume.detached' },
  { from: 'detached', trigger: 'delete', to: null },
] as const satisfies readonly Transition<VolumeState>[];

// ---- hosts that do not come back

/** Their servers are refunded and deleted, or installed again on other hosts. */
export const LOST_SERVERS = ['refund', 'rebuild'] as const;
export type LostServers = (typeof LOST_SERVERS)[number];

// ---- dedicated machines

export const MACHINE_STATES = ['free', 'sold', 'wiping', 'tested'] as const;
export type MachineState = (typeof MACHINE_STATES)[number];

export const MACHINE_TRANSITIONS = [
  { from: null, trigger: 'add', to: 'free' },
  { from: 'free', trigger: 'sell', to: 'sold' },
  // Its server is deleted. The driver has wiped the machine by then, or the operator still has to.
  { from: 'sold', trigger: 'release_wiped', to: 'free' },
  { from: 'sold', trigger: 'release', to: 'wiping' },
  { from: 'wiping', trigger: 'wipe', to: 'tested' },
  { from: 'tested', trigger: 'free', to: 'free' },
] as const satisfies readonly Transition<MachineState>[];

// ---- webhooks and their delivery attempts

/** The reason for a pause by the service; a pause by the customer has none. */
export const PAUSED_REASONS = ['endpoint_gone', 'access_revoked', 'operator'] as const;
export type PausedReason = (typeof PAUSED_REASONS)[number];

export const DELIVERY_STATUSES = ['pending', 'delivered', 'failed', 'cancelled'] as const;
export type DeliveryStatus = (typeof DELIVERY_STATUSES)[number];

export const DELIVERY_TRANSITIONS = [
  { from: null, trigger: 'enqueue', to: 'pending' },
  { from: 'pending', trigger: 'answered_2xx', to: 'delivered' },
  { from: 'pending', trigger: 'attempt_failed', to: 'failed' },
  { from: 'pending', trigger: 'endpoint_gone', to: 'failed' },
  { from: 'pending', trigger: 'subscription_paused', to: 'cancelled' },
] as const satisfies readonly Transition<DeliveryStatus>[];

/** Returns the transition from `from` by `trigger`. Throws if there is none: a bug, never a user error. */
export function findTransition<
  T extends Transition<string>,
  From extends T['from'],
  Trigger extends T['trigger'],
>(
  table: readonly T[],
  from: From,
  trigger: Trigger,
): Extract<T, { from: From; trigger: Trigger }> & { readonly event?: EventType } {
  const found = table.find((row) => row.from === from && row.trigger === trigger);
  if (!found) throw new Error(`no transition from ${from ?? 'nothing'} by ${trigger}`);
  return found as Extract<T, { from: From; trigger: Trigger }>;
}
