import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { assertApiError, createApiToken, type JsonBody, V1Client } from '../../support/v1-client.ts';
import { type HttpWorld, startHttpWorld } from '../http-world.ts';

const GROUPS = 7;

describe('a list of the REST surface', () => {
  let world: HttpWorld;
  let api: V1Client;
  /** Newest first. */
  const made: string[] = [];

  before(async () => {
    world = await startHttpWorld({ catalogue: true });
    api = V1Client.forApp(world.app, await createApiToken(await world.customer()));
    for (let n = 0; n < GROUPS; n++) {
      const body = { name: `group ${n % 3}`, default_action: 'drop' };
      const { status, body: group } = await api.post('/firewall/groups', body);
      assert.equal(status, 201);
      made.unshift(group.id);
      world.clock.offsetMs += 1_000;
    }
  });
  after(() => world.close());

  /** Reads all pages, starting with this query. */
  async function walk(query: string): Promise<JsonBody[]> {
    const items: JsonBody[] = [];
    let cursor = '';
    for (let page = 0; page < 20; page++) {
      const { status, body } = await api.get(`/firewall/groups?${query}${cursor}`);
      assert.equal(status, 200, JSON.stringify(body));
      items.push(...body.data);
      assert.equal(body.has_more, 'next_cursor' in body);
      if (!body.has_more) return items;
      cursor = `&cursor=${encodeURIComponent(body.next_cursor)}`;
    }
    throw new Error('the list does not end');
  }

  it('a list returns each item once in the requested order, at any page size', async () => {
    const whole = await walk('page_size=100');
    assert.equal(whole.length, GROUPS);
    assert.deepEqual(
      whole.map((group) => group.id),
      made,
    );
    for (const size of [1, 2, 3, 7, 8]) assert.deepEqual(await walk(`page_size=${size}`), whole);
    assert.deepEqual(await walk('page_size=2&sort=created_at'), [...whole].reverse());
    const byName = await walk('page_size=2&sort=name');
    assert.deepEqual(
      byName.map((group) => group.name),
      whole.map((group) => group.name).sort(),
    );
    assert.deepEqual(await walk('page_size=3&sort=-name'), [...byName].reverse());
  });

  it('a list filters by equality, and a filter without matches returns an empty list', async () => {
    assert.equal((await walk('filter[name]=group%201&page_size=1')).length, 2);
    assert.deepEqual(await walk('filter[name]=nobody'), []);
  });

  it('a list page has 25 items by default, and 1 to 100 on request', async () => {
    const reader = api.withToken(await createApiToken(await world.customer(), 'read'));
    await world.db.run(
      `insert into audit_events (id, customer_id, action, request_id, ip_country, result, created_at)
       select gen_random_uuid(), c.id, 'server.update', 'req_of_a_test', 'XX', 'ok', now()
         from (select id from customers order by created_at desc limit 1) c, generate_series(1, 130)`,
    );
    const page = async (query: string) => {
      const { status, body } = await reader.get(`/audit/events?action=server.update${query}`);
      assert.equal(status, 200);
      return { items: body.data.length, more: body.has_more };
    };
    assert.deepEqual(await page(''), { items: 25, more: true });
    for (const size of [1, 26, 100]) {
      assert.deepEqual(await page(`&page_size=${size}`), { items: size, more: true });
    }
  });

  it('a list rejects any other page size', async () => {
    for (const [size, issue] of [
      ['0', 'min'],
      ['-1', 'min'],
      ['101', 'max'],
      ['ten', 'invalid_type'],
      ['1.5', 'invalid_type'],
      ['', 'invalid_type'],
    ]) {
      const items = assertApiError(
        await api.get(`/firewall/groups?page_size=${size}`),
        400,
        'invalid_request',
      );
      assert.deepEqual([items[0].field, items[0].issue], ['page_size', issue]);
    }
  });

  it('a list names the allowed sorts and rejects a repeated key', async () => {
    const [item] = assertApiError(await api.get('/firewall/groups?sort=size'), 400, 'invalid_request');
    assert.deepEqual(item.allowed, ['created_at', '-created_at', 'name', '-name']);
    for (const query of ['sort=name&sort=name', 'filter[name]=a&filter[name]=b', 'page_size=1&page_size=2']) {
      assertApiError(await api.get(`/firewall/groups?${query}`), 400, 'invalid_request');
    }
  });

  it('a list accepts an unchanged cursor, for the same list, filter, sort, and reader only', async () => {
    const { body } = await api.get('/firewall/groups?page_size=2');
    const cursor: string = body.next_cursor;
    const good = `cursor=${encodeURIComponent(cursor)}`;
    assert.equal((await api.get(`/firewall/groups?page_size=5&${good}`)).status, 200, 'the size may change');
    const other = api.withToken(await createApiToken(await world.customer()));
    const tampered = `${cursor[0] === 'A' ? 'B' : 'A'}${cursor.slice(1)}`;
    const wrong: [V1Client, string][] = [
      [api, `/firewall/groups?sort=name&${good}`],
      [api, `/firewall/groups?filter[name]=group%201&${good}`],
      [api, `/webhooks?${good}`],
      [other, `/firewall/groups?${good}`],
      [api, `/firewall/groups?cursor=${encodeURIComponent(tampered)}`],
      [api, `/firewall/groups?cursor=${encodeURIComponent(`${cursor}A`)}`],
      [api, `/firewall/groups?cursor=${encodeURIComponent(cursor.slice(0, -1))}`],
      [api, '/firewall/groups?cursor='],
      [api, '/firewall/groups?cursor=e30.e30'],
      [api, '/firewall/groups?cursor=%00'],
    ];
    for (const [client, path] of wrong) {
      const [item] = assertApiError(await client.get(path), 400, 'invalid_request');
      assert.equal(item.field, 'cursor', path);
    }
  });

  it('a list continues after its last item is deleted', async () => {
    const first = await api.get('/firewall/groups?page_size=2');
    const last = first.body.data[1];
    assert.equal((await api.delete(`/firewall/groups/${last.id}`)).status, 204);
    const second = await api.get(
      `/firewall/groups?page_size=100&cursor=${encodeURIComponent(first.body.next_cursor)}`,
    );
    assert.equal(second.body.data.length, GROUPS - 2);
  });
});
