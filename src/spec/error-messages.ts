/** Messages of common errors: not found, limit reached, insufficient balance. kernel/fail.ts throws them. */
import type { QUOTAS } from './limits.ts';

export type Quota = keyof typeof QUOTAS;

function atMost(limit: number, noun: string): string {
  return `can have at most ${limit} ${noun}${limit === 1 ? '' : 's'}`;
}

/** The message when a quota is reached: the limit, and how to make room. */
export const QUOTA_MESSAGES: Record<Quota, (limit: number) => string> = {
  servers: (limit) => `An account ${atMost(limit, 'server')}; delete one first.`,
  tokens: (limit) => `An account ${atMost(limit, 'API token')}; revoke one first.`,
  webhooks: (limit) => `An account ${atMost(limit, 'webhook')}; delete one first.`,
  alerts: (limit) => `An account ${atMost(limit, 'alert')}; delete one first.`,
  sshKeys: (limit) => `An account ${atMost(limit, 'SSH key')}; delete one first.`,
  volumes: (limit) => `An account ${atMost(limit, 'volume')}; delete one first.`,
  volumesDiskGb: (limit) =>
    `The volumes of an account can use at most ${limit} GiB in total; ` +
    'choose a smaller size or delete one first.',
  snapshots: (limit) =>
    `An account ${atMost(limit, 'snapshot')}, including those of deleted servers; delete one first.`,
  snapshotsPerServer: (limit) => `A server ${atMost(limit, 'snapshot')}; delete one of this server first.`,
  customImages: (limit) => `An account ${atMost(limit, 'custom image')}; delete one first.`,
  customImagesGb: (limit) =>
    `The custom images of an account can use at most ${limit} GiB in total, ` +
    'including deleted images that servers still use; delete one first.',
  firewallGroups: (limit) => `An account ${atMost(limit, 'firewall group')}; delete one first.`,
  rulesPerGroup: (limit) =>
    `A firewall group ${atMost(limit, 'rule')}; remove one first or use another group.`,
  tagsPerServer: (limit) => `A server ${atMost(limit, 'tag')}; remove some.`,
  rdnsPerServer: (limit) => `The /64 of a server ${atMost(limit, 'host name')}; remove one first.`,
  openTopups: (limit) =>
    `An account ${atMost(limit, 'open top-up')}; pay or cancel one, or wait until one expires.`,
  unpaidTopupsPerDay: (limit) =>
    `An account ${atMost(limit, 'unpaid top-up')} in 24 hours; pay an open one, or wait.`,
  unpaidPoolTopupsPerDay: (limit) =>
    `An account ${atMost(limit, 'unpaid top-up')} of this coin in 24 hours; ` +
    'pay an open one, or choose another coin.',
};

/**
 * The message when a path names nothing. Another customer's resource gets the same message, and a path with
 * two ids does not say which one is unknown.
 */
export const NOT_FOUND_MESSAGES = {
  server: 'Server not found in your account.',
  image: 'Image not found. List the images that you can use.',
  sshKey: 'SSH key not found in your account.',
  token: 'API token not found in your account.',
  volume: 'Volume not found in your account.',
  snapshot: 'Snapshot not found in your account.',
  firewallGroup: 'Firewall group not found in your account.',
  firewallRule: 'Firewall rule not found in your account.',
  webhook: 'Webhook not found in your account.',
  alert: 'Alert not found in your account.',
  ticket: 'Ticket not found in your account.',
  ticketFile: 'File not found in your account.',
  orderDraft: 'Order not found in your account, or no longer kept.',
  savedFilter: 'Saved filter not found in your account.',
  delivery: 'Delivery not found in the log of your webhooks.',
  action: 'Action not found in your account, or no longer stored.',
  audit: 'Audit event not found in your account, or no longer stored.',
  topup: 'Top-up not found in your account.',
  passkey: 'Passkey not found in your account.',
  session: 'Session not found in your account.',
  plan: 'Plan not found. List the available plans.',
  region: 'Region not found. List the available regions.',
} as const;
export type FindableResource = keyof typeof NOT_FOUND_MESSAGES;

/** The message when an id in a request body names nothing, by field. */
export const REFERENCE_MESSAGES = {
  plan: 'this plan is not available.',
  region: 'this region is not available.',
  image: 'image not found, or not available to you.',
  ssh_keys: 'SSH key not found in your account.',
  firewall_groups: 'firewall group not found in your account.',
  volumes: 'volume not found in your account.',
  server: 'server not found in your account.',
  servers: 'server not found in your account.',
  applied_to: 'server not found in your account.',
  attach: 'server not found in your account.',
  detach: 'server not found in your account.',
  snapshot: 'snapshot not found in your account.',
  resource: 'server not found in your account.',
  quote: 'quote not found: it has expired, or it is for another operation. Request a new one.',
} as const;
export type ReferenceField = keyof typeof REFERENCE_MESSAGES;

/** The message when a coin has no exchange rate, by the reason. */
export const NO_RATE_MESSAGES = {
  /** Too few price sources have responded recently; after a start, none has yet. */
  unknown: (coin: string) =>
    `The exchange rate of ${coin} is not known yet. Try again in a minute, or choose another coin.`,
  disputed: (coin: string) =>
    `The price sources disagree about ${coin}. Try again later, or choose another coin.`,
} as const;
export type NoRateReason = keyof typeof NO_RATE_MESSAGES;

/** The message when a coin cannot be used for another reason. */
export const COIN_UNAVAILABLE_MESSAGE =
  'This coin is unavailable right now. Try again later, or choose another coin.';

/** How to fill up an insufficient balance, on each interface. */
export const TOPUP_HINTS = {
  session: 'Top up on the page in `topup`.',
  v1: 'Top up your balance and try again.',
} as const;

/** Shown where no driver manages dedicated machines: the operator sells and manages them manually. */
export const MANUAL_HARDWARE_MESSAGES = {
  plan: 'This plan is not sold automatically. Contact us to order a machine.',
  server: 'We manage this machine manually. Contact us for this operation.',
} as const;

/** The database did not confirm a change in time: it may or may not have been made. */
export const OUTCOME_UNKNOWN_MESSAGE =
  'We do not know whether your change was made. Check before you try again, ' +
  'or repeat the request with the same Idempotency-Key.';

/** More requests arrive than the service can answer. */
export const OVERLOAD_MESSAGE = 'The service is overloaded. Try again in a moment.';
