import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { formatId, newId, newPublicNumber } from '../../../src/kernel/ids.ts';
import { QUOTAS } from '../../../src/spec/limits.ts';
import type { SessionClient } from '../../support/session-client.ts';
import { assertApiError, createApiToken, type JsonBody, V1Client } from '../../support/v1-client.ts';
import { type HttpWorld, startHttpWorld } from '../http-world.ts';

const SSH = { direction: 'in', proto: 'tcp', port: '22', source: '0.0.0.0/0', action: 'accept' };

describe('REST firewall groups', () => {
  let world: HttpWorld;
  let customer: SessionClient;
  let api: V1Client;
  before(async () => {
    world = await startHttpWorld({ catalogue: true });
    customer = await world.customer();
    api = V1Client.forApp(world.app, await createApiToken(customer, 'write'));
  });
  after(() => world.close());

  /** The row of a running server, without a machine. */
  async function server(of = customer): Promise<string> {
    const id = newId(new Date());
    await world.db.run(
      `insert into servers (id, public_no, customer_id, name, status, plan_id, region_id, image_id,
                            ram_mb, disk_gb, billing_months, price_cents_month, price_cents_cycle,
                            anchor_day, paid_until, first_run_at, created_at, updated_at)
       values ($1, $2, $3, 'a', 'running', 's1', 'par', (select id from images limit 1),
               1, 1, 1, 1, 1, 1, now(), now(), now(), now())`,
      [id, newPublicNumber(), await world.customerId(of)],
    );
    return formatId('server', id);
  }

  it('firewall groups are created, read, updated, applied, and deleted', async () => {
    const id = await server();
    const created = await api.post('/firewall/groups', {
      name: 'web',
      default_action: 'drop',
      rules: [SSH],
      applied_to: [id],
    });
    assert.equal(created.status, 201);
    const group = created.body;
    assert.deepEqual(group.rules, [{ id: group.rules[0].id, ...SSH, note: null }]);
    const path = `/firewall/groups/${group.id}`;
    assert.deepEqual((await api.get(path)).body, group);
    assertApiError(await api.delete(path), 409, 'conflict_state');
    const patched = await api.patch(path, { name: 'gate', default_action: 'accept', applied_to: [] });
    assert.equal(patched.status, 200);
    assert.deepEqual(patched.body, { ...group, name: 'gate', default_action: 'accept', applied_to: [] });
    assert.equal((await api.delete(path)).status, 204);
    assertApiError(await api.get(path), 404, 'not_found');
  });

  it('attach and detach keep the other servers, also when clients send them at once', async () => {
    const ids = await Promise.all(Array.from({ length: 8 }, () => server()));
    const [first = '', second = '', ...others] = ids;
    const created = await api.post('/firewall/groups', {
      name: 'a',
      default_action: 'drop',
      applied_to: [first],
    });
    const path = `/firewall/groups/${created.body.id}`;
    const changes = [...others.map((id) => ({ attach: [id] })), { attach: [second], detach: [first] }];
    const replies = await Promise.all(changes.map((change) => api.patch(path, change)));
    assert.deepEqual([...new Set(replies.map(({ status }) => status))], [200]);
    const { body: group } = await api.get(path);
    assert.deepEqual(group.applied_to.toSorted(), [second, ...others].toSorted());
    const repeated = await api.patch(path, { attach: [second], detach: [first] });
    assert.deepEqual(repeated.body, group);
    const replaced = await api.patch(path, { applied_to: [first, second], attach: others, detach: [second] });
    assert.deepEqual(replaced.body.applied_to.toSorted(), [first, ...others].toSorted());
  });

  it('attach and detach name the invalid item', async () => {
    const [own, foreign] = [await server(), await server(await world.customer())];
    const { body: group } = await api.post('/firewall/groups', { name: 'a', default_action: 'drop' });
    const path = `/firewall/groups/${group.id}`;
    for (const list of ['attach', 'detach']) {
      for (const id of [foreign, formatId('server', newId(new Date())), 'srv_none']) {
        const errors = assertApiError(await api.patch(path, { [list]: [own, id] }), 422, 'unprocessable');
        assert.deepEqual(errors, [{ field: `${list}.1`, issue: 'not_found' }]);
      }
    }
    const both = assertApiError(
      await api.patch(path, { attach: [own], detach: [own] }),
      400,
      'invalid_request',
    );
    assert.deepEqual(both, [{ field: 'detach.0', issue: 'invalid_value' }]);
    assert.deepEqual((await api.get(path)).body, group);
  });

  it('firewall rules are appended, replaced, and removed', async () => {
    const { body: group } = await api.post('/firewall/groups', { name: 'a', default_action: 'accept' });
    assert.deepEqual([group.rules, group.applied_to], [[], []]);
    const path = `/firewall/groups/${group.id}`;
    const appended = await api.post(`${path}/rules`, { ...SSH, note: 'mine' }, { key: 'once' });
    assert.equal(appended.status, 201);
    const again = await api.post(`${path}/rules`, { ...SSH, note: 'mine' }, { key: 'once' });
    assert.equal(again.text, appended.text);
    assert.deepEqual((await api.get(path)).body.rules, [appended.body]);
    const ping = { ...SSH, proto: 'icmp', port: null, source: '2001:DB8::/32' };
    const replaced = await api.put(`${path}/rules`, { rules: [ping, SSH] });
    assert.equal(replaced.status, 200);
    assert.deepEqual(
      replaced.body.rules.map((rule: JsonBody) => [rule.proto, rule.port, rule.source]),
      [
        ['icmp', null, '2001:db8::/32'],
        ['tcp', '22', '0.0.0.0/0'],
      ],
    );
    assertApiError(await api.delete(`${path}/rules/${appended.body.id}`), 404, 'not_found');
    assert.equal((await api.delete(`${path}/rules/${replaced.body.rules[0].id}`)).status, 204);
    assert.deepEqual((await api.get(path)).body.rules, [replaced.body.rules[1]]);
  });

  it('an invalid firewall group is rejected with every invalid field', async () => {
    const wrong = {
      name: 'a\u200bb',
      default_action: 'drop',
      rules: [
        { ...SSH, port: '22,80-90' },
        { ...SSH, port: '65536' },
        { ...SSH, proto: 'any' },
        { ...SSH, source: '192.0.2.1' },
        { ...SSH, source: '192.0.2.1/24', note: 'a\nb' },
        SSH,
      ],
    };
    const items = async (body: object) =>
      assertApiError(await api.post('/firewall/groups', body), 400, 'invalid_request').map(
        ({ field, issue }) => `${field} ${issue}`,
      );
    // The schema reports its own errors first. The remaining checks run only after it passes.
    assert.deepEqual(await items(wrong), ['rules.0.port invalid_format']);
    assert.deepEqual(await items({ ...wrong, rules: wrong.rules.slice(1) }), [
      ...[
        'name invalid_format',
        'rules.0.port max',
        'rules.1.port invalid_value',
        'rules.2.source invalid_format',
      ],
      ...['rules.3.source invalid_format', 'rules.3.note invalid_format'],
    ]);
    assert.deepEqual(await items({ name: '', default_action: 'reject', rules: {}, applied_to: ['a', 'a'] }), [
      ...[
        'name min_length',
        'default_action invalid_value',
        'rules invalid_type',
        'applied_to invalid_value',
      ],
    ]);
    assert.deepEqual((await items({ rules: [{}] })).sort(), [
      ...[
        'default_action required',
        'name required',
        'rules.0.action required',
        'rules.0.direction required',
      ],
      ...['rules.0.proto required', 'rules.0.source required'],
    ]);
    const { body: group } = await api.post('/firewall/groups', { name: 'a', default_action: 'drop' });
    for (const patch of [{ name: null }, { rules: [] }, { applied_to: null }, { default_action: 'DROP' }]) {
      assertApiError(await api.patch(`/firewall/groups/${group.id}`, patch), 400, 'invalid_request');
    }
    assertApiError(
      await api.put(`/firewall/groups/${group.id}/rules`, { rules: [{ ...SSH, id: 'fwr_x' }] }),
      400,
      'invalid_request',
    );
  });

  it('an unknown server and too many rules are rejected with the field', async () => {
    const foreign = await server(await world.customer());
    const unknown = formatId('server', newId(new Date()));
    const texts = [];
    for (const id of [foreign, unknown]) {
      const body = { name: 'a', default_action: 'drop', applied_to: [await server(), id] };
      const answer = await api.post('/firewall/groups', body);
      assert.deepEqual(assertApiError(answer, 422, 'unprocessable'), [
        { field: 'applied_to.1', issue: 'not_found' },
      ]);
      texts.push(answer.text.replace(answer.body.error.request_id, ''));
    }
    assert.equal(texts[0], texts[1]);
    const rules = Array.from({ length: QUOTAS.rulesPerGroup + 1 }, () => SSH);
    const answer = await api.post('/firewall/groups', { name: 'a', default_action: 'drop', rules });
    assert.deepEqual(assertApiError(answer, 422, 'unprocessable'), [
      { field: 'rules', issue: 'limit_reached', limit: QUOTAS.rulesPerGroup },
    ]);
  });

  it('firewall groups are listed by name and age, and pages follow each other', async () => {
    const other = V1Client.forApp(world.app, await createApiToken(await world.customer(), 'write'));
    for (const name of ['b', 'c', 'a']) {
      await other.post('/firewall/groups', { name, default_action: 'drop', rules: [SSH, SSH] });
    }
    const names: string[] = [];
    let cursor = '';
    do {
      const { body } = await other.get(`/firewall/groups?sort=name&page_size=1${cursor}`);
      names.push(...body.data.map((group: JsonBody) => `${group.name} ${group.rules.length}`));
      cursor = body.has_more ? `&cursor=${body.next_cursor}` : '';
    } while (cursor !== '');
    assert.deepEqual(names, ['a 2', 'b 2', 'c 2']);
    const { body } = await other.get('/firewall/groups?filter[name]=c');
    assert.deepEqual(
      body.data.map((group: JsonBody) => group.name),
      ['c'],
    );
  });
});
