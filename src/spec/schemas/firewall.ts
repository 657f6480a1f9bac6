/** Firewall group and rule (SPEC "Firewall group (`fwg_`) and rule (`fwr_`)", DECISIONS "Firewall"). */
import { type Static, Type } from 'typebox';
import { LIMITS } from '../limits.ts';
import { PATTERNS } from '../patterns.ts';
import { DisplayName, Id, nullable, oneOf, Time } from './parts.ts';

export const FIREWALL_DEFAULTS = ['drop', 'accept'] as const;
export const RULE_DIRECTIONS = ['in', 'out'] as const;
export const RULE_PROTOS = ['tcp', 'udp', 'icmp', 'any'] as const;
export const RULE_ACTIONS = ['accept', 'drop', 'reject'] as const;
/** The protocols that have ports. */
export const PORT_PROTOS: readonly (typeof RULE_PROTOS)[number][] = ['tcp', 'udp'];

/** The longest CIDR: a full IPv6 address with its prefix length. */
const CIDR_MAX_CHARS = 43;

const direction = oneOf(RULE_DIRECTIONS);
const proto = oneOf(RULE_PROTOS);
const action = oneOf(RULE_ACTIONS, { description: '`reject` responds with RST or ICMP unreachable.' });
const port = {
  description:
    'One port, a comma-separated list, or a range `<low>-<high>`; null: every port. Only with tcp and udp.',
  examples: ['443', '80,443', '8000-8999'],
};
const source = {
  description:
    'CIDR of the remote address: the source of inbound and the destination of outbound traffic. ' +
    'An IPv4 CIDR never matches IPv6.',
  examples: ['203.0.113.0/24', '0.0.0.0/0', '::/0'],
};

export const FirewallRule = Type.Object({
  id: Id('fwr_'),
  direction,
  proto,
  port: nullable(Type.String(port)),
  source: Type.String(source),
  action,
  note: nullable(Type.String()),
});
export type FirewallRule = Static<typeof FirewallRule>;

const defaultAction = oneOf(FIREWALL_DEFAULTS, {
  description:
    'Action for packets that match no rule: always for inbound traffic, and for outbound traffic once ' +
    'an applied group has an `out` rule. `drop` is recommended, and wins if groups differ.',
});

export const FirewallGroup = Type.Object({
  id: Id('fwg_'),
  object: Type.Literal('firewall_group'),
  name: Type.String(),
  applied_to: Type.Array(Type.String(), { description: 'Ids of the servers that the group applies to.' }),
  rules: Type.Array(FirewallRule, { description: 'In order: the first match wins.' }),
  default_action: defaultAction,
  created_at: Time,
});
export type FirewallGroup = Static<typeof FirewallGroup>;

export const FirewallRuleBody = Type.Object(
  {
    direction,
    proto,
    port: Type.Optional(
      nullable(
        Type.String({
          ...port,
          minLength: 1,
          maxLength: LIMITS.rulePortMaxChars,
          pattern: PATTERNS.ports.pattern,
        }),
      ),
    ),
    source: Type.String({ ...source, minLength: 1, maxLength: CIDR_MAX_CHARS }),
    action,
    note: Type.Optional(nullable(Type.String({ maxLength: LIMITS.ruleNoteMaxChars }))),
  },
  { additionalProperties: false },
);
export type FirewallRuleBody = Static<typeof FirewallRuleBody>;

export const FirewallRulesBody = Type.Object(
  { rules: Type.Array(FirewallRuleBody) },
  { additionalProperties: false },
);
export type FirewallRulesBody = Static<typeof FirewallRulesBody>;

const serverIds = (description: string) => Type.Array(Type.String(), { uniqueItems: true, description });
const appliedTo = serverIds('Ids of servers. Replaces the whole list.');

export const FirewallGroupBody = Type.Object(
  {
    name: DisplayName,
    default_action: defaultAction,
    rules: Type.Optional(Type.Array(FirewallRuleBody)),
    applied_to: Type.Optional(appliedTo),
  },
  { additionalProperties: false },
);
export type FirewallGroupBody = Static<typeof FirewallGroupBody>;

export const FirewallGroupPatch = Type.Object(
  {
    name: Type.Optional(DisplayName),
    default_action: Type.Optional(defaultAction),
    applied_to: Type.Optional(appliedTo),
    attach: Type.Optional(
      serverIds('Ids of servers to apply the group to, in addition to those in `applied_to` of the group.'),
    ),
    detach: Type.Optional(serverIds('Ids of servers to remove from `applied_to` of the group.')),
  },
  { additionalProperties: false },
);
export type FirewallGroupPatch = Static<typeof FirewallGroupPatch>;
