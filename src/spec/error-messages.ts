/**
 * What the commonest refusals say, by what they are about: which thing is not there, which limit is reached, and what to do
 * about it. Each is told by one function of kernel/fail.ts.
 */
import type { QUOTAS } from './limits.ts';

export type Quota = keyof typeof QUOTAS;

function atMost(limit: number, thing: string): string {
  return `may have at most ${limit} ${thing}${limit === 1 ? '' : 's'}`;
}

/** Said of a quota that is reached: how much there may be, and what makes room. */
export const QUOTA_MESSAGES: Record<Quota, (limit: number) => string> = {
  servers: (limit) => `An account ${atMost(limit, 'server')}; destroy one first.`,
  tokens: (limit) => `An account ${atMost(limit, 'API token')}; revoke one first.`,
  webhooks: (limit) => `An account ${atMost(limit, 'webhook')}; delete one first.`,
  sshKeys: (limit) => `An account ${atMost(limit, 'SSH key')}; delete one first.`,
  volumes: (limit) => `An account ${atMost(limit, 'volume')}; delete one first.`,
  volumesDiskGb: (limit) =>
    `The volumes of an account may take at most ${limit} GiB of disk together; ask for less or delete one first.`,
  snapshots: (limit) =>
    `An account ${atMost(limit, 'snapshot')}, those of servers that are gone included; delete one first.`,
  snapshotsPerServer: (limit) => `A server ${atMost(limit, 'snapshot')}; delete one of this server first.`,
  customImages: (limit) => `An account ${atMost(limit, 'image')} of its own; delete one first.`,
  customImagesGb: (limit) =>
    `The images of an account may take at most ${limit} GiB together, with deleted ones that servers still use; delete ` +
    'one first.',
  firewallGroups: (limit) => `An account ${atMost(limit, 'firewall group')}; delete one first.`,
  rulesPerGroup: (limit) =>
    `A firewall group ${atMost(limit, 'rule')}; remove one first or use another group.`,
  tagsPerServer: (limit) => `A server ${atMost(limit, 'tag')}; leave some out.`,
  rdnsPerServer: (limit) => `The /64 of a server ${atMost(limit, 'host name')}; remove one first.`,
  openTopups: (limit) => `An account ${atMost(limit, 'open top-up')}; pay one, or wait until one expires.`,
  unpaidTopupsPerDay: (limit) =>
    `An account ${atMost(limit, 'unpaid top-up')} in 24 hours; pay one that is open, or wait.`,
  unpaidPoolTopupsPerDay: (limit) =>
    `An account ${atMost(limit, 'unpaid top-up')} of this coin in 24 hours; pay one that is open, or take another coin.`,
};

/**
 * Said of what a path names, when there is none. Another customer's is not told apart, so that a path of two ids says the same
 * whichever is unknown.
 */
export const NOT_FOUND_MESSAGES = {
  server: 'There is no such server in your account.',
  image: 'There is no such image for you; GET /v1/images lists those there are.',
  sshKey: 'There is no such SSH key in your account.',
  token: 'There is no such API token in your account.',
  volume: 'There is no such volume in your account.',
  snapshot: 'There is no such snapshot in your account.',
  firewallGroup: 'There is no such firewall group in your account.',
  firewallRule: 'There is no such rule in a firewall group of your account.',
  webhook: 'There is no such webhook in your account.',
  delivery: 'There is no such delivery in the log of a webhook of your account.',
  audit: 'There is no such event in the audit log of your account, or it is no longer kept.',
  topup: 'There is no such top-up in your account.',
  session: 'There is no such session of your account.',
  plan: 'There is no such plan; GET /v1/plans lists those there are.',
  region: 'There is no such region; GET /v1/regions lists those there are.',
} as const;
export type FindableResource = keyof typeof NOT_FOUND_MESSAGES;

/** What a field of a body names by its id, and where those that it may name are listed. */
export const REFERENCE_TARGETS = {
  plan: { thing: 'plan that is offered', list: '/v1/plans' },
  region: { thing: 'region that is offered', list: '/v1/regions' },
  image: { thing: 'image that you may use', list: '/v1/images' },
  ssh_keys: { thing: 'SSH key of yours', list: '/v1/ssh-keys' },
  server: { thing: 'server of yours', list: '/v1/servers' },
  applied_to: { thing: 'server of yours', list: '/v1/servers' },
  snapshot: { thing: 'snapshot of yours', list: '/v1/snapshots' },
} as const;
export type ReferenceField = keyof typeof REFERENCE_TARGETS;

/** Where a short balance is filled up, as each surface knows it. */
export const TOPUP_HINTS = {
  session: 'Top up at the page that `topup` names.',
  v1: 'POST /v1/billing/topup makes an address to pay to.',
} as const;

/** Said where no driver reaches dedicated machines: the operator sells them and looks after them himself. */
export const MANUAL_HARDWARE_MESSAGES = {
  plan: 'This plan is sold by hand: ask the operator for a machine.',
  server: 'This server is a machine that the operator looks after by hand: ask the operator for that.',
} as const;
