import { showId } from '../../kernel/ids.ts';
import { rfc3339 } from '../../kernel/time.ts';
import type { FirewallGroup, FirewallRule } from '../../spec/schemas/firewall.ts';
import type { GroupRow, RuleRow } from '../../store/firewall.ts';

/** A group as the REST contract shows it. */
export function groupObject(row: GroupRow): FirewallGroup {
  return {
    id: showId('firewallGroup', row.id),
    object: 'firewall_group',
    name: row.name,
    applied_to: row.applied_to.map((id) => showId('server', id)),
    rules: row.rules.map(ruleObject),
    default_action: row.default_action,
    created_at: rfc3339(row.created_at),
  };
}

export function ruleObject(row: RuleRow): FirewallRule {
  return { ...row, id: showId('firewallRule', row.id) };
}
