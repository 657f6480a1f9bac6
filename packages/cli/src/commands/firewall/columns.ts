import type { FirewallGroup, FirewallRule } from '@skerry/sdk';
import { type Column, time } from '../../output/columns.ts';

export const FIREWALL_GROUP_COLUMNS: readonly Column<FirewallGroup>[] = [
  { name: 'id', of: (group) => group.id },
  { name: 'name', of: (group) => group.name },
  { name: 'default_action', of: (group) => group.default_action },
  { name: 'rule_count', of: (group) => group.rules.length },
  { name: 'server_count', of: (group) => group.applied_to.length },
  { name: 'applied_to', of: (group) => group.applied_to, hidden: true },
  { name: 'created_at', of: (group) => time(group.created_at), hidden: true },
];

export const FIREWALL_RULE_COLUMNS: readonly Column<FirewallRule>[] = [
  { name: 'id', of: (rule) => rule.id },
  { name: 'direction', of: (rule) => rule.direction },
  { name: 'proto', of: (rule) => rule.proto },
  { name: 'port', of: (rule) => rule.port },
  { name: 'source', of: (rule) => rule.source },
  { name: 'action', of: (rule) => rule.action },
  { name: 'note', of: (rule) => rule.note },
];

/** With its place instead of its id: by that `firewall rule delete` takes it, and a line fits a terminal. */
export const PLACED_RULE_COLUMNS: readonly Column<FirewallRule & { readonly place: number }>[] = [
  { name: '#', of: ({ place }) => place },
  ...FIREWALL_RULE_COLUMNS.filter(({ name }) => name !== 'id'),
];
