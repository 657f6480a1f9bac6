import { formatId } from '../../kernel/ids.ts';
import { formatRfc3339 } from '../../kernel/time.ts';
import type { FirewallGroup, FirewallRule } from '../../spec/schemas/firewall.ts';
import type { GroupRow, RuleRow } from '../../store/firewall.ts';

/** Returns a group in the REST shape. */
export function groupObject(row: GroupRow): FirewallGroup {
  return {
    id: formatId('firewallGroup', row.id),
    object: 'firewall_group',
    name: row.name,
    applied_to: row.applied_to.map((id) => formatId('server', id)),
    rules: row.rules.map(ruleObject),
    default_action: row.default_action,
    created_at: formatRfc3339(row.created_at),
  };
}

export function ruleObject(row: RuleRow): FirewallRule {
  return { ...row, id: formatId('firewallRule', row.id) };
}
