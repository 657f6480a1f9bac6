/** Changes the rules of a group: appends one, replaces all, or removes one. */
import { notFound, requireQuota } from '../../kernel/fail.ts';
import { formatId, newId, parseId } from '../../kernel/ids.ts';
import type { Sql } from '../../kernel/sql.ts';
import type { FindableResource } from '../../spec/error-messages.ts';
import type {
  FirewallGroup,
  FirewallRule,
  FirewallRuleBody,
  FirewallRulesBody,
} from '../../spec/schemas/firewall.ts';
import {
  appendRules,
  deleteRule,
  deleteRules,
  findGroup,
  type GroupRow,
  lockGroup,
  type RuleRow,
} from '../../store/firewall.ts';
import { enqueueTasks } from '../../store/tasks.ts';
import type { CustomerActor, Service } from '../context.ts';
import { recordAudit } from '../record.ts';
import { type CheckedRule, checkRule, checkRules } from './check.ts';
import {
  groupObject,
  hiddenServers,
  requireUnchanged,
  requireWholeGroup,
  ruleObject,
  rulesEtag,
  shownGroup,
} from './read.ts';

/** Appends a rule. Fails with `not_found` or `limit_reached`. */
export async function addRule(
  service: Service,
  actor: CustomerActor,
  shownGroupId: string,
  body: FirewallRuleBody,
): Promise<FirewallRule> {
  const checked = checkRule(body);
  return await changeRules(service, actor, shownGroupId, async (tx, group, now) => {
    const limit = service.settings.quotas.rulesPerGroup;
    requireQuota('rulesPerGroup', limit, group.rules.length);
    const row: RuleRow = { id: newId(now), ...checked };
    await appendRules(tx, group.id, [row]);
    const object = ruleObject(row);
    await recordAudit(tx, { actor, action: 'firewall_rule.create', resource: object.id }, now);
    await actor.saveResponse?.(tx, object);
    return object;
  });
}

/**
 * Replaces all rules by new ones with new ids. Fails with `conflict_state` if the rules no longer match
 * `expectedEtag`, the ETag of the rules that the caller saw.
 */
export async function replaceRules(
  service: Service,
  actor: CustomerActor,
  shownGroupId: string,
  body: FirewallRulesBody,
  expectedEtag?: string,
): Promise<FirewallGroup> {
  const rules = checkRules(service, body.rules);
  return await changeRules(service, actor, shownGroupId, async (tx, group, now) => {
    requireUnchanged(expectedEtag, rulesEtag(groupObject(group)));
    const rows = withIds(rules, now);
    await deleteRules(tx, group.id);
    await appendRules(tx, group.id, rows);
    const hidden = await hiddenServers(tx, actor, group.applied_to);
    const object = shownGroup({ ...group, rules: rows }, hidden);
    await recordAudit(tx, { actor, action: 'firewall_group.replace_rules', resource: object.id }, now);
    await actor.saveResponse?.(tx, object);
    return object;
  });
}

/** Removes one rule. An unknown rule, or one of another group, is `not_found`. */
export async function removeRule(
  service: Service,
  actor: CustomerActor,
  shownGroupId: string,
  shownRuleId: string,
): Promise<void> {
  const missing = 'firewallRule';
  const ruleId = parseId('firewallRule', shownRuleId) ?? notFound(missing);
  await changeRules(
    service,
    actor,
    shownGroupId,
    async (tx, group, now) => {
      if (!(await deleteRule(tx, group.id, ruleId))) notFound(missing);
      const resource = formatId('firewallRule', ruleId);
      await recordAudit(tx, { actor, action: 'firewall_rule.delete', resource }, now);
    },
    missing,
  );
}

/** Assigns ids in order. */
export function withIds(rules: readonly CheckedRule[], now: Date): RuleRow[] {
  return rules.map((rule) => ({ id: newId(now), ...rule }));
}

/** Runs a change of rules in one transaction and queues new filters for all servers of the group. */
async function changeRules<T>(
  service: Service,
  actor: CustomerActor,
  shownGroupId: string,
  change: (tx: Sql, group: GroupRow, now: Date) => Promise<T>,
  missing: FindableResource = 'firewallGroup',
): Promise<T> {
  const id = parseId('firewallGroup', shownGroupId) ?? notFound(missing);
  const changed = await service.db.transaction(async (tx) => {
    const now = service.clock.now();
    const { customerId } = actor;
    const group = (await lockGroup(tx, customerId, id)) ? await findGroup(tx, customerId, id) : undefined;
    if (!group) notFound(missing);
    await requireWholeGroup(tx, actor, group);
    await enqueueTasks(tx, { kind: 'filter', subjects: group.applied_to, now });
    return await change(tx, group, now);
  });
  service.wake();
  return changed;
}
