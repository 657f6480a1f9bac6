/** The options and columns for the limits of an API token. */
import type { ApiToken, CreateApiToken } from '@skerry/sdk';
import { omitUndefined } from '../lists.ts';
import { decimal, integer, listOf, type Option, pairs, text } from '../options.ts';
import { type Cell, type Column, formatUsd } from '../output/format.ts';
import { formatSelector } from './label-options.ts';

type Limits = NonNullable<CreateApiToken['limits']>;
type ShownLimits = NonNullable<ApiToken['limits']>;

export const LIMIT_OPTIONS = {
  limitIp: listOf('cidr', 'Only from these networks, such as 203.0.113.0/24'),
  limitOperation: listOf('operation', 'Only these operations of the API, such as servers.list'),
  limitResource: listOf('id', 'Only these servers, volumes, snapshots, images, SSH keys, or firewall groups'),
  limitLabel: pairs('Also servers, volumes, and snapshots with all of these labels'),
  limitRegion: listOf('code', 'Only servers, volumes, and snapshots in these regions', {
    completionKind: 'region',
  }),
  limitSpend: decimal('usd', 'Spend at most this, renewals aside', { min: 0 }),
  limitSpendPeriod: text('period', 'Whether --limit-spend is in total (default) or per calendar month', {
    choices: ['total', 'month'],
  }),
  limitServers: integer('n', 'Have at most this many servers at a time that it created', { min: 0 }),
};

type Given = { readonly [Name in keyof typeof LIMIT_OPTIONS]: ParsedBy<(typeof LIMIT_OPTIONS)[Name]> };
type ParsedBy<Each> = Each extends Option<infer Value> ? Value : never;

/** Returns the limits that the options set; undefined if none. */
export function limitsField(given: Given): { limits?: Limits } {
  const { limitLabel: labels } = given;
  const limits = omitUndefined({
    ip_cidrs: given.limitIp,
    operations: given.limitOperation as Limits['operations'],
    resources: given.limitResource,
    label_selector: labels && formatSelector(labels),
    regions: given.limitRegion,
    spend_usd: given.limitSpend,
    spend_period: given.limitSpendPeriod as Limits['spend_period'],
    max_servers: given.limitServers,
  });
  return Object.keys(limits).length === 0 ? {} : { limits: limits as Limits };
}

/** A column of a limit. A service before API 1.7 has none. */
function limit(name: string, label: string, value: (limits: ShownLimits) => Cell): Column<ApiToken> {
  return { name, label, value: ({ limits }) => (limits ? value(limits) : null), hidden: true };
}

export const LIMIT_COLUMNS: readonly Column<ApiToken>[] = [
  { name: 'limited', value: ({ limits }) => Boolean(limits) },
  limit('limit_ips', 'networks', ({ ip_cidrs }) => ip_cidrs),
  limit('limit_operations', 'operations', ({ operations }) => operations),
  limit('limit_resources', 'resources', ({ resources }) => resources),
  limit('limit_labels', 'labels', ({ label_selector }) => label_selector),
  limit('limit_regions', 'regions', ({ regions }) => regions),
  limit('limit_spend', 'spend limit', ({ spend_usd, spend_period }) =>
    spend_usd === null
      ? null
      : `${formatUsd(spend_usd)} ${spend_period === 'month' ? 'per month' : 'in total'}`,
  ),
  limit('limit_servers', 'server limit', ({ max_servers }) => max_servers),
  { name: 'spent', value: ({ spent_usd }) => formatUsd(spent_usd ?? null), hidden: true },
];
