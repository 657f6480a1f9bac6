import assert from 'node:assert/strict';
import { after, before, beforeEach, describe, it } from 'node:test';
import type { CustomerActor, Service } from '../../../src/domain/context.ts';
import { createGroup, updateGroup } from '../../../src/domain/firewall/groups.ts';
import { getGroup } from '../../../src/domain/firewall/read.ts';
import { addRule, removeRule, replaceRules } from '../../../src/domain/firewall/rules.ts';
import { formatId, parseId } from '../../../src/kernel/ids.ts';
import { QUOTAS } from '../../../src/spec/limits.ts';
import type { FirewallGroupBody } from '../../../src/spec/schemas/firewall.ts';
import { detachFromAllGroups } from '../../../src/store/firewall.ts';
import { lockServer, setServerStatus } from '../../../src/store/servers/servers.ts';
import { ALLOW_WEB, FirewallWorld, refused } from './firewall-world.ts';

let fixture: FirewallWorld;
let service: Service;
let actor: CustomerActor;
before(async () => {
  fixture = await FirewallWorld.open();
  service = fixture.world.service;
});
after(() => fixture.world.close());
beforeEach(async () => {
  actor = await fixture.customer();
  await fixture.takeFilterTasks();
});

const create = (body: Partial<FirewallGroupBody> = {}, by = actor) =>
  createGroup(service, by, { name: 'web', default_action: 'drop', ...body });

describe('the rules of a group', () => {
  it('rules are appended, replaced, and removed, and every change reaches the servers', async () => {
    const server = await fixture.server(actor);
    const { id, rules } = await create({ rules: [ALLOW_WEB], applied_to: [server] });
    await fixture.takeFilterTasks();
    const added = await addRule(service, actor, id, {
      ...ALLOW_WEB,
      proto: 'icmp',
      port: null,
      note: 'ping',
    });
    assert.deepEqual((await getGroup(service, actor, id)).rules, [...rules, added]);
    assert.deepEqual(await fixture.takeFilterTasks(), [server]);
    const replaced = await replaceRules(service, actor, id, { rules: [{ ...added }, ALLOW_WEB].map(bodyOf) });
    assert.deepEqual(await getGroup(service, actor, id), replaced);
    assert.deepEqual(replaced.rules.map(bodyOf), [bodyOf(added), { ...ALLOW_WEB, note: null }]);
    assert.equal(new Set([...rules, added, ...replaced.rules].map((rule) => rule.id)).size, 4);
    assert.deepEqual(await fixture.takeFilterTasks(), [server]);
    const [first, second] = replaced.rules;
    await removeRule(service, actor, id, first?.id ?? '');
    assert.equal((await refused(removeRule(service, actor, id, first?.id ?? ''))).code, 'not_found');
    const last = await addRule(service, actor, id, ALLOW_WEB);
    assert.deepEqual((await getGroup(service, actor, id)).rules, [second, last]);
    assert.deepEqual(await fixture.takeFilterTasks(), [server]);
    assert.deepEqual(await fixture.auditLines(actor), [
      `firewall_group.create ${id}`,
      `firewall_rule.create ${added.id}`,
      `firewall_group.replace_rules ${id}`,
      `firewall_rule.delete ${first?.id}`,
      `firewall_rule.create ${last.id}`,
    ]);
  });

  it('a rule cannot be removed through another group', async () => {
    const [one, other] = [await create({ rules: [ALLOW_WEB] }), await create()];
    const id = one.rules[0]?.id ?? '';
    assert.equal((await refused(removeRule(service, actor, other.id, id))).code, 'not_found');
    assert.equal((await getGroup(service, actor, one.id)).rules.length, 1);
  });

  it('a group has at most 100 rules, even with concurrent requests', async () => {
    const rules = Array.from({ length: QUOTAS.rulesPerGroup + 1 }, () => ALLOW_WEB);
    const limit = QUOTAS.rulesPerGroup;
    const tooMany = { code: 'limit_reached', extras: { field: 'rules', limit } };
    assert.deepEqual(await refused(create({ rules })), tooMany);
    const { id } = await create({ rules: rules.slice(0, limit - 2) });
    assert.deepEqual(await refused(replaceRules(service, actor, id, { rules })), tooMany);
    const tries = await Promise.allSettled(
      Array.from({ length: 5 }, () => addRule(service, actor, id, ALLOW_WEB)),
    );
    assert.equal(tries.filter((one) => one.status === 'fulfilled').length, 2);
    const full = { code: 'limit_reached', extras: { limit, used: limit } };
    assert.deepEqual(await refused(addRule(service, actor, id, ALLOW_WEB)), full);
  });
});

describe('a server that is destroyed', () => {
  it('a deleted server leaves its groups and cannot be added concurrently', async () => {
    const rounds = Array.from({ length: 8 }, async () => {
      const server = await fixture.serverRow(actor);
      const shown = formatId('server', server);
      const groups = [await create({ applied_to: [shown] }), await create()];
      const destroyed = fixture.world.db.transaction(async (tx) => {
        await lockServer(tx, server);
        await setServerStatus(tx, { id: server, status: 'destroying', now: fixture.world.clock.now() });
        await detachFromAllGroups(tx, server);
      });
      const applied = groups.map(({ id }) => updateGroup(service, actor, id, { applied_to: [shown] }));
      await Promise.allSettled([destroyed, ...applied]);
      for (const { id } of groups) assert.deepEqual((await getGroup(service, actor, id)).applied_to, []);
    });
    await Promise.all(rounds);
  });

  it('a server without a row is in no group', async () => {
    const server = await fixture.server(actor);
    const { id } = await create({ applied_to: [server] });
    await fixture.world.db.run('delete from servers where id = $1', [parseId('server', server)]);
    assert.deepEqual((await getGroup(service, actor, id)).applied_to, []);
  });
});

function bodyOf<Rule extends object>(rule: Rule): Omit<Rule, 'id'> {
  const { id: _id, ...body } = rule as Rule & { id?: string };
  return body as Omit<Rule, 'id'>;
}
