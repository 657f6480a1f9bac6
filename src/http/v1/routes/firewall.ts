/** Firewall groups and their rules. */
import { createGroup, deleteGroup, updateGroup } from '../../../domain/firewall/groups.ts';
import { getGroup, listGroups } from '../../../domain/firewall/read.ts';
import { addRule, removeRule, replaceRules } from '../../../domain/firewall/rules.ts';
import { BY_AGE_OR_NAME } from '../../../spec/lists.ts';
import {
  FirewallGroup,
  FirewallGroupBody,
  FirewallGroupPatch,
  FirewallRule,
  FirewallRuleBody,
  FirewallRulesBody,
} from '../../../spec/schemas/firewall.ts';
import { listRoute, type Route, route } from '../route.ts';

/**
 * The version that a panel form showed. REST queries never carry `seen`: it is rejected as an unknown key.
 */
const seenVersion = (query: object): string | undefined => (query as { readonly seen?: string }).seen;

const RULE = { direction: 'in', proto: 'tcp', port: '80,443', source: '0.0.0.0/0', action: 'accept' };

const groupRoutes: readonly Route[] = [
  listRoute({
    id: 'firewall_groups.list',
    path: '/firewall/groups',
    scope: 'read',
    summary: 'List firewall groups',
    list: { ...BY_AGE_OR_NAME, filters: { name: {} } },
    reply: FirewallGroup,
    run: ({ service, actor, page }) => listGroups(service, actor, page),
  }),
  route({
    id: 'firewall_groups.create',
    method: 'POST',
    path: '/firewall/groups',
    scope: 'write',
    summary: 'Create a firewall group',
    description: 'You can include its rules and the servers to apply it to.',
    status: 201,
    errorStatuses: [409, 422],
    audit: 'firewall_group.create',
    body: FirewallGroupBody,
    example: { name: 'web', default_action: 'drop', rules: [RULE] },
    reply: FirewallGroup,
    run: ({ service, actor, body }) => createGroup(service, actor, body),
  }),
  route({
    id: 'firewall_groups.get',
    method: 'GET',
    path: '/firewall/groups/{id}',
    scope: 'read',
    summary: 'Retrieve a firewall group',
    reply: FirewallGroup,
    run: ({ service, actor, params }) => getGroup(service, actor, params.id),
  }),
  route({
    id: 'firewall_groups.update',
    method: 'PATCH',
    path: '/firewall/groups/{id}',
    scope: 'write',
    summary: 'Update a firewall group',
    description:
      '`attach` and `detach` change the servers that the group applies to and keep the others, also if ' +
      'several clients do so at once. `applied_to` replaces the whole list first. We send ' +
      '`firewall.applied` for each added server.',
    errorStatuses: [409, 422],
    audit: 'firewall_group.update',
    body: FirewallGroupPatch,
    example: { default_action: 'drop', applied_to: ['srv_aaaqk3m7qzb5x2l6v4t7n8wyja'] },
    reply: FirewallGroup,
    run: ({ service, actor, params, body, query }) =>
      updateGroup(service, actor, params.id, body, seenVersion(query)),
  }),
  route({
    id: 'firewall_groups.delete',
    method: 'DELETE',
    path: '/firewall/groups/{id}',
    scope: 'write',
    summary: 'Delete a firewall group',
    description: 'The group must not be applied to any server.',
    status: 204,
    errorStatuses: [409],
    audit: 'firewall_group.delete',
    reply: null,
    run: ({ service, actor, params }) => deleteGroup(service, actor, params.id),
  }),
];

const ruleRoutes: readonly Route[] = [
  route({
    id: 'firewall_rules.create',
    method: 'POST',
    path: '/firewall/groups/{id}/rules',
    scope: 'write',
    summary: 'Add a rule to a firewall group',
    description: 'Appends the rule to the list. Rules apply in order, and the first match wins.',
    status: 201,
    errorStatuses: [422],
    audit: 'firewall_rule.create',
    body: FirewallRuleBody,
    example: RULE,
    reply: FirewallRule,
    run: ({ service, actor, params, body }) => addRule(service, actor, params.id, body),
  }),
  route({
    id: 'firewall_rules.replace',
    method: 'PUT',
    path: '/firewall/groups/{id}/rules',
    scope: 'write',
    summary: 'Replace the rules of a firewall group',
    description: 'Replaces all rules atomically. Every rule gets a new id.',
    errorStatuses: [422],
    audit: 'firewall_group.replace_rules',
    body: FirewallRulesBody,
    example: { rules: [RULE] },
    reply: FirewallGroup,
    run: ({ service, actor, params, body, query }) =>
      replaceRules(service, actor, params.id, body, seenVersion(query)),
  }),
  route({
    id: 'firewall_rules.delete',
    method: 'DELETE',
    path: '/firewall/groups/{id}/rules/{rule_id}',
    scope: 'write',
    summary: 'Remove a rule from a firewall group',
    status: 204,
    audit: 'firewall_rule.delete',
    reply: null,
    run: ({ service, actor, params }) => removeRule(service, actor, params.id, params.rule_id),
  }),
];

export const FIREWALL_ROUTES: readonly Route[] = [...groupRoutes, ...ruleRoutes];
