import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { getAuditEvent, listAuditEvents } from '../../../src/domain/audit/read.ts';
import type { CustomerActor } from '../../../src/domain/context.ts';
import { recordAudit, systemActor } from '../../../src/domain/record.ts';
import { formatId, newId } from '../../../src/kernel/ids.ts';
import { DAY_MS, formatRfc3339 } from '../../../src/kernel/time.ts';
import type { Action } from '../../../src/spec/actions.ts';
import type { PageRequest } from '../../../src/spec/lists.ts';
import { pageAuditEvents } from '../../../src/store/audit.ts';
import { captureStatement } from '../../support/query-plans.ts';
import { startTestService, type TestService } from '../../support/test-service.ts';

const NEWEST: PageRequest = { filter: {}, sort: 'created_at', descending: true, after: null, size: 25 };

describe('the audit log', () => {
  let world: TestService;
  before(async () => {
    world = await startTestService();
  });
  after(() => world.close());

  /** Records the action at that many milliseconds before now. */
  const record = (actor: CustomerActor, action: Action, resource: string | null = null, msAgo = 0) =>
    recordAudit(world.db, { actor, action, resource }, new Date(world.clock.now().getTime() - msAgo));
  const list = (actor: CustomerActor, wanted: Partial<PageRequest> = {}) =>
    listAuditEvents(world.service, actor, { ...NEWEST, ...wanted });
  const actions = async (actor: CustomerActor, wanted: Partial<PageRequest> = {}) =>
    (await list(actor, wanted)).items.map((event) => event.action);

  it('an audit event names actor, request, and country, and has no actor when the service acts', async () => {
    const actor = await world.fixtures.addCustomer();
    const byToken = { ...actor, sessionId: null, tokenId: newId(new Date()) };
    const { customerId } = actor;
    await record(actor, 'token.create', 'tok_x', 3_000);
    await recordAudit(
      world.db,
      { actor: byToken, action: 'token.revoke', resource: null, result: 'denied' },
      ago(2),
    );
    await recordAudit(
      world.db,
      { actor: systemActor(ago(1)), action: 'server.run', resource: 'srv_x', customerId },
      ago(1),
    );
    const { items } = await list(actor);
    const [run, revoke, create] = items;
    assert.deepEqual([run?.actor_token, run?.actor_session, run?.ip_country], [null, null, 'XX']);
    assert.deepEqual(
      [revoke?.actor_token, revoke?.actor_session],
      [formatId('token', byToken.tokenId), null],
    );
    assert.deepEqual([revoke?.result, revoke?.resource], ['denied', null]);
    assert.match(create?.id ?? '', /^audit_[a-z2-7]{26}$/);
    assert.deepEqual(create, {
      ...{ id: create?.id, object: 'audit_event', action: 'token.create', resource: 'tok_x', result: 'ok' },
      ...{ actor_token: null, actor_session: formatId('session', actor.sessionId ?? '') },
      ...{ request_id: actor.requestId, ip_country: 'IS', created_at: formatRfc3339(ago(3)) },
    });
    for (const event of items) assert.deepEqual(await getAuditEvent(world.service, actor, event.id), event);
  });

  it('the audit log filters by action, resource, and a half-open time range', async () => {
    const actor = await world.fixtures.addCustomer();
    await record(actor, 'server.stop', 'srv_a', 3_000);
    await record(actor, 'server.start', 'srv_a', 2_000);
    await record(actor, 'server.start', 'srv_b', 1_000);
    const [from, to] = [formatRfc3339(ago(3)), formatRfc3339(ago(1))];
    assert.deepEqual(await actions(actor, { filter: { action: 'server.start' } }), [
      'server.start',
      'server.start',
    ]);
    assert.deepEqual(await actions(actor, { filter: { resource: 'srv_a' } }), [
      'server.start',
      'server.stop',
    ]);
    assert.deepEqual(await actions(actor, { filter: { resource: 'srv_' } }), []);
    assert.deepEqual(await actions(actor, { filter: { from, to }, descending: false }), [
      'server.stop',
      'server.start',
    ]);
    assert.deepEqual(await actions(actor, { filter: { from: to, action: 'server.start' } }), [
      'server.start',
    ]);
    const shifted = to.replace('Z', '+00:00');
    assert.deepEqual(
      await actions(actor, { filter: { to: shifted, resource: 'srv_a', action: 'server.stop' } }),
      ['server.stop'],
    );
  });

  it('the audit log goes back 90 days, in lists and for one event', async () => {
    const actor = await world.fixtures.addCustomer();
    await record(actor, 'server.stop', null, 90 * DAY_MS);
    await record(actor, 'server.start', null, 90 * DAY_MS + 1);
    assert.deepEqual(await actions(actor), ['server.stop']);
    assert.deepEqual(await actions(actor, { filter: { from: '2000-01-01T00:00:00Z' } }), ['server.stop']);
    const rows = await world.db.rows<{ id: string; action: string }>(
      'select id, action from audit_events where customer_id = $1',
      [actor.customerId],
    );
    for (const { id, action } of rows) {
      const found = getAuditEvent(world.service, actor, formatId('audit', id));
      if (action === 'server.stop') assert.equal((await found).action, action);
      else await assert.rejects(found, { code: 'not_found' });
    }
  });

  it('a customer cannot read another customer’s audit log', async () => {
    const [actor, stranger] = [await world.fixtures.addCustomer(), await world.fixtures.addCustomer()];
    await record(actor, 'server.stop');
    const [event] = (await list(actor)).items;
    assert.deepEqual(await actions(stranger), []);
    const unknown = formatId('audit', newId(new Date()));
    for (const id of [event?.id ?? '', unknown, 'audit_', 'srv_x', '']) {
      await assert.rejects(getAuditEvent(world.service, stranger, id), { code: 'not_found' });
    }
  });

  it('every filter of the audit log reads from an index without sorting', async () => {
    const actor = await world.fixtures.addCustomer();
    await world.db.run(
      `insert into audit_events
         (id, customer_id, action, resource, request_id, ip_country, result, created_at)
       select gen_random_uuid(), case when i % 5 = 0 then gen_random_uuid() else $1::uuid end,
              (array['server.stop', 'server.start'])[1 + (i % 50 = 1)::int],
              'srv_' || i % 300, 'req_x', 'XX', 'ok',
              $2::timestamptz - make_interval(secs => i * 60)
         from generate_series(1, 40000) i`,
      [actor.customerId, world.clock.now()],
    );
    await world.db.run('analyze audit_events');
    const [from, to] = [formatRfc3339(ago(2_000_000)), formatRfc3339(ago(1_000))];
    const action = 'server.start';
    const resource = 'srv_1';
    const filters = [{}, { action }, { resource }, { from }, { to }, { from, to }];
    const together = [
      { action, from, to },
      { resource, from, to },
    ];
    for (const filter of [...filters, ...together]) {
      for (const descending of [true, false]) {
        const request = { ...NEWEST, filter, descending, size: 3 };
        const first = await list(actor, request);
        assert.ok(first.next, JSON.stringify(filter));
        for (const after of [null, first.next, { ...first.next, value: ago(600_000).toISOString() }]) {
          await assertIndexed(actor.customerId, { ...request, after });
        }
      }
    }
  });

  /** Fails unless the statement is one index scan that stops early, for these values and for any others. */
  async function assertIndexed(customerId: string, request: PageRequest): Promise<void> {
    const { text, values } = await captureStatement((sql) =>
      pageAuditEvents(sql, customerId, ago(90 * 86_400), request),
    );
    const literals = values.map(
      (value) => `'${value instanceof Date ? value.toISOString() : String(value)}'`,
    );
    for (const mode of ['force_custom_plan', 'force_generic_plan']) {
      const lines = await world.db.transaction(async (tx) => {
        await tx.run(`set local plan_cache_mode = ${mode}`);
        await tx.run(`prepare page as ${text}`);
        const found = await tx.rows<{ 'QUERY PLAN': string }>(
          `explain execute page (${literals.join(', ')})`,
        );
        await tx.run('deallocate page');
        return found;
      });
      const plan = lines.map((line) => line['QUERY PLAN']).join('\n');
      assert.match(plan, /Index (Only )?Scan/, `${JSON.stringify(request)} ${mode}\n${plan}`);
      assert.doesNotMatch(plan, /Sort|Seq Scan|Bitmap/, `${JSON.stringify(request)} ${mode}\n${plan}`);
    }
  }

  /** Returns the time that many seconds before now. */
  function ago(seconds: number): Date {
    return new Date(world.clock.now().getTime() - seconds * 1_000);
  }
});
