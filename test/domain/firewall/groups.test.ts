import assert from 'node:assert/strict';
import { after, before, beforeEach, describe, it } from 'node:test';
import type { CustomerActor, Service } from '../../../src/domain/context.ts';
import { createGroup, deleteGroup, updateGroup } from '../../../src/domain/firewall/groups.ts';
import { getGroup, listGroups } from '../../../src/domain/firewall/read.ts';
import { addRule, removeRule, replaceRules } from '../../../src/domain/firewall/rules.ts';
import { formatId, newId, parseId } from '../../../src/kernel/ids.ts';
import { QUOTAS } from '../../../src/spec/limits.ts';
import type { FirewallGroupBody } from '../../../src/spec/schemas/firewall.ts';
import { dumpTables } from '../../support/dump-tables.ts';
import { R1 } from '../../support/fixtures.ts';
import { ALLOW_WEB, FirewallWorld, refused } from './firewall-world.ts';

const PAGE = { filter: {}, sort: 'created_at', descending: true, after: null, size: 25 };

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

describe('a firewall group', () => {
  it('a group is created with its rules and applied in one commit', async () => {
    const servers = [await fixture.server(actor), await fixture.server(actor, 'stopped')];
    const group = await create({ rules: [ALLOW_WEB, { ...ALLOW_WEB, note: 'again' }], applied_to: servers });
    const { id, rules, created_at } = group;
    assert.match(id, /^fwg_[a-z2-7]{26}$/);
    for (const rule of rules) assert.match(rule.id, /^fwr_[a-z2-7]{26}$/);
    assert.deepEqual(group, {
      id,
      object: 'firewall_group',
      name: 'web',
      applied_to: servers,
      default_action: 'drop',
      created_at,
      rules: [
        { id: rules[0]?.id, ...ALLOW_WEB, note: null },
        { id: rules[1]?.id, ...ALLOW_WEB, note: 'again' },
      ],
    });
    assert.deepEqual(await getGroup(service, actor, id), group);
    assert.deepEqual(await fixture.auditLines(actor), [`firewall_group.create ${id}`]);
    assert.deepEqual(await fixture.takeFilterTasks(), [...servers].sort());
    const events = await fixture.world.db.rows('select type, data from events where customer_id = $1', [
      actor.customerId,
    ]);
    const event = { type: 'firewall.applied', data: { firewall_group: group } };
    assert.deepEqual(events, [event, event]);
  });

  it('the source of a rule is stored in canonical form', async () => {
    const rules = ['2001:0DB8:0:0::/32', '::ffff:0:0/96', '192.0.2.7/32'].map((source) => ({
      ...ALLOW_WEB,
      source,
    }));
    const group = await create({ rules });
    assert.deepEqual(
      group.rules.map(({ source }) => source),
      ['2001:db8::/32', '::ffff:0:0/96', '192.0.2.7/32'],
    );
  });

  it('replacing the servers of a group keeps the position of those that stay, without events', async () => {
    const [a, b, c] = [await fixture.server(actor), await fixture.server(actor), await fixture.server(actor)];
    const { id } = await create({ applied_to: [a, b] });
    await fixture.takeFilterTasks();
    const updated = await updateGroup(service, actor, id, { applied_to: [c, b] });
    assert.deepEqual(updated.applied_to, [b, c]);
    assert.deepEqual(await fixture.takeFilterTasks(), [a, c].sort());
    assert.equal((await fixture.world.eventTypes(actor.customerId)).length, 3);
    await updateGroup(service, actor, id, { name: 'other' });
    assert.deepEqual(await fixture.takeFilterTasks(), []);
    await updateGroup(service, actor, id, { default_action: 'accept' });
    assert.deepEqual(await fixture.takeFilterTasks(), [b, c].sort());
    const emptied = await updateGroup(service, actor, id, { applied_to: [] });
    assert.deepEqual([emptied.name, emptied.default_action, emptied.applied_to], ['other', 'accept', []]);
    assert.deepEqual(await fixture.takeFilterTasks(), [b, c].sort());
    assert.equal((await fixture.world.eventTypes(actor.customerId)).length, 3);
  });

  it('a group cannot be applied to unknown, foreign, deleted, or unfilterable servers', async () => {
    const good = await fixture.server(actor);
    const foreign = await fixture.server(await fixture.customer());
    const unknown = formatId('server', newId(new Date()));
    const going = await fixture.server(actor, 'destroying');
    const held = await fixture.server(actor, 'suspended');
    const { id } = await create({ applied_to: [good] });
    const dedicated = await fixture.server(actor, 'running', R1.id);
    const { compute } = service;
    const { vps } = compute.capabilities;
    const bare = { vps, dedicated: { ...vps, filter: false } };
    const withoutFilter = { ...service, compute: { capabilities: bare } as unknown as typeof compute };
    const before = await dumpTables(fixture.world.db);
    const field = { field: 'applied_to.1' };
    for (const attempt of [
      (applied_to: string[]) =>
        createGroup(withoutFilter, actor, { name: 'x', default_action: 'drop', applied_to }),
      (applied_to: string[]) => updateGroup(withoutFilter, actor, id, { applied_to }),
    ]) {
      for (const server of [foreign, unknown, 'srv_x', '', id]) {
        assert.deepEqual(await refused(attempt([good, server])), {
          code: 'unknown_reference',
          extras: field,
        });
      }
      for (const barred of [going, held]) {
        assert.equal((await refused(attempt([good, barred]))).code, 'conflict_state');
      }
      assert.deepEqual(await refused(attempt([good, dedicated])), { code: 'unavailable', extras: field });
    }
    assert.deepEqual(await dumpTables(fixture.world.db), before);
    assert.deepEqual((await updateGroup(service, actor, id, { applied_to: [dedicated] })).applied_to, [
      dedicated,
    ]);
  });

  it('a group keeps a frozen server, but its rules may change', async () => {
    const [held, free] = [await fixture.server(actor), await fixture.server(actor)];
    const { id } = await create({ applied_to: [held, free] });
    const { db } = fixture.world;
    await db.run(`update servers set status = 'suspended', suspended_reason = 'operator' where id = $1`, [
      parseId('server', held),
    ]);
    await fixture.takeFilterTasks();
    const before = await dumpTables(db);
    for (const applied_to of [[free], []]) {
      assert.equal((await refused(updateGroup(service, actor, id, { applied_to }))).code, 'conflict_state');
    }
    assert.deepEqual(await dumpTables(db), before);
    await updateGroup(service, actor, id, { applied_to: [held], default_action: 'accept' });
    assert.deepEqual(await fixture.takeFilterTasks(), [held, free].sort());
    await addRule(service, actor, id, ALLOW_WEB);
    assert.deepEqual(await fixture.takeFilterTasks(), [held]);
  });

  it('a group can be deleted once it is applied to no server', async () => {
    const { id } = await create({ rules: [ALLOW_WEB], applied_to: [await fixture.server(actor)] });
    assert.equal((await refused(deleteGroup(service, actor, id))).code, 'conflict_state');
    await updateGroup(service, actor, id, { applied_to: [] });
    await deleteGroup(service, actor, id);
    assert.equal((await refused(deleteGroup(service, actor, id))).code, 'not_found');
    assert.equal((await fixture.auditLines(actor)).at(-1), `firewall_group.delete ${id}`);
  });

  it('another customer’s group is not found by any operation', async () => {
    const group = await create({ rules: [ALLOW_WEB] });
    const stranger = await fixture.customer();
    const server = await fixture.server(stranger);
    const before = await dumpTables(fixture.world.db);
    for (const id of [group.id, formatId('firewallGroup', newId(new Date())), 'fwg_', server, '']) {
      for (const attempt of [
        () => getGroup(service, stranger, id),
        () => updateGroup(service, stranger, id, { applied_to: [server] }),
        () => updateGroup(service, stranger, id, { name: 'mine' }),
        () => deleteGroup(service, stranger, id),
        () => addRule(service, stranger, id, ALLOW_WEB),
        () => replaceRules(service, stranger, id, { rules: [] }),
        () => removeRule(service, stranger, id, group.rules[0]?.id ?? ''),
      ]) {
        assert.equal((await refused(attempt())).code, 'not_found');
      }
    }
    assert.deepEqual(await dumpTables(fixture.world.db), before);
    assert.deepEqual((await listGroups(service, stranger, PAGE)).items, []);
  });

  it('a customer has at most 50 groups, even with concurrent requests', async () => {
    await fixture.world.db.run(
      `insert into firewall_groups
       select gen_random_uuid(), $1, 'x', 'drop', now() from generate_series(1, $2::int)`,
      [actor.customerId, QUOTAS.firewallGroups - 3],
    );
    const tries = await Promise.allSettled(Array.from({ length: 6 }, () => create()));
    assert.equal(tries.filter((one) => one.status === 'fulfilled').length, 3);
    assert.deepEqual(await refused(create()), { code: 'limit_reached', extras: { limit: 50, used: 50 } });
  });

  it('groups are listed with rules and servers in one statement', async () => {
    const servers = [await fixture.server(actor), await fixture.server(actor)];
    const groups = [];
    for (const name of ['b', 'a', 'b']) {
      fixture.world.clock.advanceS(1);
      groups.push(await create({ name, rules: [ALLOW_WEB, ALLOW_WEB], applied_to: servers }));
    }
    const [b1, a, b2] = groups;
    let statements = 0;
    const { db } = fixture.world;
    const rows: typeof db.rows = async (text, values) => {
      statements += 1;
      return await db.rows(text, values);
    };
    const counting = { ...service, db: { ...db, rows } } as unknown as Service;
    assert.deepEqual(await listGroups(counting, actor, PAGE), { items: [b2, a, b1], next: null });
    assert.equal(statements, 1);
    const named = { ...PAGE, filter: { name: 'b' }, descending: false };
    assert.deepEqual((await listGroups(service, actor, named)).items, [b1, b2]);
    const first = await listGroups(service, actor, { ...PAGE, sort: 'name', descending: false, size: 2 });
    const rest = await listGroups(service, actor, {
      ...PAGE,
      sort: 'name',
      descending: false,
      after: first.next,
    });
    assert.deepEqual(
      [...first.items, ...rest.items].map(({ name }) => name),
      ['a', 'b', 'b'],
    );
  });
});
