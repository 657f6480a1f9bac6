import type { FirewallGroup } from '@skerry/sdk';
import type { Output } from '../../output/output.ts';
import { FIREWALL_GROUP_COLUMNS, NUMBERED_RULE_COLUMNS } from './columns.ts';

/** Shows a group; for people, its rules below with the numbers that `firewall rule delete` accepts. */
export function showGroup(output: Output, group: FirewallGroup): void {
  output.show(group, FIREWALL_GROUP_COLUMNS);
  const placed = group.rules.map((rule, at) => ({ ...rule, place: at + 1 }));
  output.showSection('Rules', placed, NUMBERED_RULE_COLUMNS);
}
