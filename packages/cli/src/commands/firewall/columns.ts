import type { FirewallGroup, FirewallRule } from '@skerry/sdk';
import { type Column, formatTime } from '../../output/columns.ts';

export const FIREWALL_GROUP_COLUMNS: readonly Column<FirewallGroup>[] = [
  { name: 'id', value: (group) => group.id },
  { name: 'name', value: (group) => group.name },
  { name: 'default_action', value: (group) => group.default_action },
  { name: 'rule_count', value: (group) => group.rules.length },
  { name: 'server_count', value: (group) => group.applied_to.length },
  { name: 'applied_to', value: (group) => group.applied_to, hidden: true },
  { name: 'created_at', value: (group) => formatTime(group.created_at), hidden: true },
];

export const FIREWALL_RULE_COLUMNS: readonly Column<FirewallRule>[] = [
  { name: 'id', value: (rule) => rule.id },
  { name: 'direction', value: (rule) => rule.direction },
  { name: 'proto', value: (rule) => rule.proto },
  { name: 'port', value: (rule) => rule.port },
  { name: 'source', value: (rule) => rule.source },
  { name: 'action', value: (rule) => rule.action },
  { name: 'note', value: (rule) => rule.note },
];

/** Shows positions instead of IDs: `firewall rule delete` accepts them, and the line fits a terminal. */
export const NUMBERED_RULE_COLUMNS: readonly Column<FirewallRule & { readonly place: number }>[] = [
  { name: '#', value: ({ place }) => place },
  ...FIREWALL_RULE_COLUMNS.filter(({ name }) => name !== 'id'),
];
