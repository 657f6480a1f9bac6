import type { Scope } from './scopes.ts';

/**
 * Every event, with the key of its object in `data` (SPEC "Events"; DECISIONS "`data` keys"). Events that
 * SPEC does not list are marked `additive`.
 */
export const EVENTS = {
  'server.created': { key: 'server', when: 'a new server began provisioning' },
  'server.running': {
    key: 'server',
    when: 'installation finished and the server is reachable, or a suspended server resumed',
  },
  'server.stopped': {
    key: 'server',
    when: 'a graceful shutdown completed, or a server was created without being started',
  },
  'server.rebooted': { key: 'server', when: 'a reboot completed' },
  'server.rebuilt': { key: 'server', when: 'a rebuild from an image completed' },
  'server.resized': {
    key: 'server',
    when: 'a server got another plan, or went back to the previous one because the resize failed',
    additive: true,
  },
  'server.iso_inserted': {
    key: 'server',
    when: 'an ISO image was inserted into a server',
    additive: true,
  },
  'server.iso_ejected': {
    key: 'server',
    when: 'the ISO image of a server was ejected, or could not be inserted: its drive is empty',
    additive: true,
  },
  'server.suspended': {
    key: 'server',
    when: 'the cycle ended and could not be renewed, or the balance stayed negative; the server was stopped',
  },
  'server.lost': {
    key: 'server',
    when: 'its machine was lost; the server starts elsewhere, is installed again, or is refunded and deleted',
    additive: true,
  },
  'server.destroyed': { key: 'server', when: 'the disk was wiped and the IP addresses were released' },
  'snapshot.ready': { key: 'snapshot', when: 'a snapshot is ready' },
  'snapshot.failed': {
    key: 'snapshot',
    when: 'a snapshot failed, or the machine that had the only copy was lost',
    additive: true,
  },
  'backup.failed': {
    key: 'backup_policy',
    when: 'two backups of a server in a row failed or were missed',
    additive: true,
  },
  'volume.attached': { key: 'volume', when: 'a volume was attached' },
  'volume.detached': { key: 'volume', when: 'a volume was detached' },
  'volume.lost': {
    key: 'volume',
    when: 'the machine that had the data of a volume was lost',
    additive: true,
  },
  'topup.pending': {
    key: 'topup',
    scope: 'billing',
    when: 'a deposit was detected on chain and awaits confirmations',
  },
  'topup.confirmed': {
    key: 'topup',
    scope: 'billing',
    when: 'a deposit was confirmed and the balance credited',
  },
  'topup.expired': {
    key: 'topup',
    scope: 'billing',
    when: 'the rate lock expired before a payment was seen',
  },
  'topup.reversed': {
    key: 'topup',
    scope: 'billing',
    when: 'a credit was taken back because its payment left the chain',
    additive: true,
  },
  'billing.charged': {
    key: 'ledger_entry',
    scope: 'billing',
    when: 'a billing cycle was charged, or the rest of one for another plan or for backups',
  },
  'billing.low_balance': {
    key: 'balance',
    scope: 'billing',
    when: 'a cycle ends within 7 days and the balance does not cover the renewals',
  },
  'token.created': { key: 'api_token', when: 'an API token was created' },
  'token.updated': {
    key: 'api_token',
    when: 'an API token was renamed, or its limits were narrowed',
    additive: true,
  },
  'token.revoked': { key: 'api_token', when: 'an API token was revoked' },
  'firewall.applied': { key: 'firewall_group', when: 'a firewall group was attached to a server' },
  'action.success': {
    key: 'action',
    when: 'an action succeeded; the event stream sends it only if `types` names it',
    additive: true,
    onRequest: true,
  },
  'action.error': {
    key: 'action',
    when: 'an action failed; the event stream sends it only if `types` names it',
    additive: true,
    onRequest: true,
  },
  'alert.fired': {
    key: 'alert',
    when: 'an alert began to fire for a server, which is in `server`',
    additive: true,
  },
  'alert.resolved': {
    key: 'alert',
    when: 'an alert no longer fires for a server: it recovered, was stopped or deleted, or the alert changed',
    additive: true,
  },
} as const satisfies Record<string, EventRow>;

interface EventRow {
  readonly key: string;
  readonly when: string;
  /** The scope that reads it; `read` if missing. Money events have that of the billing endpoints. */
  readonly scope?: Scope;
  readonly additive?: true;
  /** The event stream sends it only if its filter names it. A webhook names what it receives in any case. */
  readonly onRequest?: true;
}

/** The scope that an event requires, in the stream and of a webhook. An unknown type is not about money. */
export function eventScope(type: string): Scope {
  const rows: Readonly<Record<string, EventRow | undefined>> = EVENTS;
  return rows[type]?.scope ?? 'read';
}

/** Whether the event stream sends events of this type only on request. */
export function isOnRequest(type: string): boolean {
  const rows: Readonly<Record<string, EventRow | undefined>> = EVENTS;
  return rows[type]?.onRequest ?? false;
}

export type EventType = keyof typeof EVENTS;
export const EVENT_TYPES = Object.keys(EVENTS) as readonly EventType[];
/** Events about money. */
export const MONEY_EVENTS: readonly EventType[] = EVENT_TYPES.filter(
  (type) => eventScope(type) === 'billing',
);
