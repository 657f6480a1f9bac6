/** Compiles a server's groups into the filter in front of it (DECISIONS "Firewall"). */
import type { Filter, FilterRule } from '../../ports/network.ts';
import type { FirewallGroup, FirewallRule } from '../../spec/schemas/firewall.ts';
import { portRanges } from './ports.ts';

type AppliedGroup = Pick<FirewallGroup, 'default_action'> & {
  readonly rules: readonly Pick<FirewallRule, 'direction' | 'proto' | 'port' | 'source' | 'action'>[];
};

/**
 * Expects `groups` in the order of attachment and concatenates their rules. `drop` wins as the default. The
 * default applies to outbound traffic only if a group has an outbound rule. Without groups there is no
 * filter.
 */
export function compileFilter(groups: readonly AppliedGroup[]): Filter | null {
  if (groups.length === 0) return null;
  const defaultAction = groups.some((group) => group.default_action === 'drop') ? 'drop' : 'accept';
  const rules = groups.flatMap((group) => group.rules);
  return {
    rules: rules.map(compileRule),
    defaultIn: defaultAction,
    defaultOut: rules.some((rule) => rule.direction === 'out') ? defaultAction : 'accept',
  };
}

function compileRule({ direction, proto, port, source, action }: AppliedGroup['rules'][number]): FilterRule {
  return { direction, proto, ports: port === null ? [] : portRanges(port), remote: source, action };
}
