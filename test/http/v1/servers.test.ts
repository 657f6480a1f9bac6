import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { formatId, newId } from '../../../src/kernel/ids.ts';
import { assertApiError, createApiToken, type JsonBody, V1Client } from '../../support/v1-client.ts';
import { startWorld, type World } from '../../support/world.ts';

const SETTINGS = {
  SKERRY_RATE_CAPACITY: '100000',
  SKERRY_RATE_REFILL_PER_S: '100000',
  SKERRY_QUOTAS: 'sshKeys=3',
};
const PUBLIC_KEY =
  'ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIFhYWFhYWFhYWFhYWFhYWFhYWFhYWFhYWFhYWFhYWFhY me@laptop';
const MISSING_KEY_ID = formatId('sshKey', newId(new Date()));

let world: World;
let api: V1Client;
let otherCustomer: V1Client;
let unfundedCustomer: V1Client;

before(async () => {
  world = await startWorld(SETTINGS);
  api = V1Client.forUrl(world.url, await createApiToken(await world.customer(90)));
  otherCustomer = api.withToken(await createApiToken(await world.customer()));
  unfundedCustomer = otherCustomer;
});
after(() => world.close());

describe('the catalog over REST', () => {
  it('plans, regions, and images are listed by id and can be retrieved', async () => {
    for (const path of ['/plans', '/regions', '/images']) {
      const { status, body } = await api.get(path);
      assert.equal(status, 200);
      assert.ok(body.data.length >= 4 && body.has_more === false);
      const first = await api.get(`${path}?page_size=1`);
      assert.deepEqual(first.body.data, body.data.slice(0, 1));
      const next = await api.get(`${path}?page_size=100&cursor=${first.body.next_cursor}`);
      assert.deepEqual(next.body.data, body.data.slice(1));
      for (const item of body.data) assert.deepEqual((await api.get(`${path}/${item.id}`)).body, item);
      for (const id of ['nothing', '%00', 'S1']) {
        assertApiError(await api.get(`${path}/${id}`), 404, 'not_found');
      }
      for (const sort of ['-id', 'created_at', '-created_at', 'name', '-name']) {
        const sorted = await api.get(`${path}?sort=${sort}`);
        assert.equal(sorted.body.data.length, body.data.length, sort);
      }
      const wrongSort = assertApiError(await api.get(`${path}?sort=price`), 400, 'invalid_request');
      assert.deepEqual(
        [wrongSort[0].field, wrongSort[0].issue, wrongSort[0].allowed.slice(0, 2)],
        ['sort', 'invalid_value', ['id', '-id']],
      );
    }
    const { body } = await api.get('/plans?sort=-id&filter[category]=dedicated');
    assert.deepEqual(
      body.data.map((plan: JsonBody) => plan.id),
      ['r3', 'r2', 'r1'],
    );
    assert.deepEqual(body.data[0].available_in, ['par', 'rkv', 'zrh']);
    assert.equal((await api.get('/regions/rkv')).body.ipv4_pool_remaining > 200, true);
  });

  it('images accept plain and bracketed filters, and an invalid value is rejected', async () => {
    const plain = await api.get('/images?family=debian&arch=arm64&type=official');
    const bracketed = await api.get('/images?filter[family]=debian&filter[arch]=arm64&filter[type]=official');
    assert.deepEqual(plain.body, bracketed.body);
    assert.ok(plain.body.data.length > 0);
    const [item] = assertApiError(await api.get('/images?arch=riscv'), 400, 'invalid_request');
    assert.deepEqual(item, { field: 'arch', issue: 'invalid_value', allowed: ['amd64', 'arm64'] });
  });
});

describe('SSH keys over REST', () => {
  it('SSH keys are added, listed without the key, retrieved with it, and deleted', async () => {
    const made = await api.post('/ssh-keys', { name: 'laptop', public_key: `${PUBLIC_KEY}\n` });
    assert.equal(made.status, 201);
    const { id, created_at, ...rest } = made.body;
    assert.match(id, /^k_[a-z2-7]{26}$/);
    assert.deepEqual(rest, {
      object: 'ssh_key',
      name: 'laptop',
      type: 'ssh-ed25519',
      fingerprint: 'SHA256:3jxlIWgGlRHce8N5i7BGeWlBx1dRzU361p6SFOS83Rs',
      public_key: PUBLIC_KEY,
    });
    assert.deepEqual((await api.get(`/ssh-keys/${id}`)).body, made.body);
    const listed = (await api.get('/ssh-keys?filter[name]=laptop&filter[type]=ssh-ed25519&sort=name')).body
      .data;
    const { public_key: _, ...shown } = made.body;
    assert.deepEqual(listed, [shown]);
    assert.equal((await api.post('/ssh-keys', { name: 'laptop', public_key: PUBLIC_KEY })).status, 201);
    for (const client of [otherCustomer, api.withToken(await createApiToken(await world.customer()))]) {
      assertApiError(await client.get(`/ssh-keys/${id}`), 404, 'not_found');
      assertApiError(await client.delete(`/ssh-keys/${id}`), 404, 'not_found');
      assert.deepEqual((await client.get('/ssh-keys')).body.data, []);
    }
    assert.equal((await api.delete(`/ssh-keys/${id}`)).status, 204);
    assertApiError(await api.get(`/ssh-keys/${id}`), 404, 'not_found');
    assertApiError(await api.delete(`/ssh-keys/${id}`), 404, 'not_found');
  });

  it('SSH keys are limited by the quota, even when they are added concurrently', async () => {
    const client = api.withToken(await createApiToken(await world.customer()));
    const adds = Array.from({ length: 6 }, () =>
      client.post('/ssh-keys', { name: 'a', public_key: PUBLIC_KEY }),
    );
    const answers = await Promise.all(adds);
    const refused = answers.filter(({ status }) => status !== 201);
    assert.equal(refused.length, 3);
    for (const answer of refused) {
      const [item] = assertApiError(answer, 422, 'unprocessable');
      assert.deepEqual(item, { field: '', issue: 'limit_reached', limit: 3, used: 3 });
    }
  });

  it('an invalid SSH key is rejected with instructions, and no response repeats it', async () => {
    const cases: [body: object, field: string, issue: string][] = [
      [{ public_key: PUBLIC_KEY }, 'name', 'required'],
      [{ name: 'a' }, 'public_key', 'required'],
      [{ name: '', public_key: PUBLIC_KEY }, 'name', 'min_length'],
      [{ name: 'a'.repeat(64), public_key: PUBLIC_KEY }, 'name', 'max_length'],
      [{ name: 'a\u0007', public_key: PUBLIC_KEY }, 'name', 'invalid_format'],
      [
        { name: 'a', public_key: '-----BEGIN OPENSSH PRIVATE KEY-----\nc2VjcmV0' },
        'public_key',
        'invalid_format',
      ],
      [{ name: 'a', public_key: 'ssh-dss c2VjcmV0' }, 'public_key', 'invalid_value'],
      [{ name: 'a', public_key: 'a'.repeat(10_000) }, 'public_key', 'max_length'],
      [{ name: 'a', public_key: PUBLIC_KEY, type: 'ssh-rsa' }, 'type', 'unknown_key'],
      [{ name: 'a', public_key: PUBLIC_KEY, fingerprint: 'x' }, 'fingerprint', 'unknown_key'],
    ];
    for (const [body, field, issue] of cases) {
      const answer = await api.post('/ssh-keys', body);
      const [item] = assertApiError(answer, 400, 'invalid_request');
      assert.deepEqual([item.field, item.issue], [field, issue], answer.text);
      assert.ok(!answer.text.includes('c2VjcmV0'));
    }
  });
});

describe('a server over REST', () => {
  let key: string;
  let image: string;
  let order: JsonBody;
  before(async () => {
    key = (await api.post('/ssh-keys', { name: 'ci', public_key: PUBLIC_KEY })).body.id;
    image = (await api.get('/images?family=debian')).body.data.find(
      (one: JsonBody) => one.version === '12',
    ).id;
    order = { name: 'web-1', plan: 's1', region: 'par', image, ssh_keys: [key] };
  });

  it('a server is ordered once per key, starts, and has addresses, host names, and metrics', async () => {
    const remaining = (await api.get('/regions/par')).body.ipv4_pool_remaining;
    const wanted = { ...order, tags: ['web'], labels: { env: 'prod' } };
    const made = await api.post('/servers', wanted, { key: 'one' });
    assert.equal(made.status, 201, made.text);
    assert.equal(made.body.status, 'provisioning');
    assert.deepEqual([made.body.ipv4, made.body.ipv6, made.body.ssh_keys], [null, null, [key]]);
    assert.equal((await api.post('/servers', wanted, { key: 'one' })).text, made.text);
    assert.equal((await api.get('/regions/par')).body.ipv4_pool_remaining, remaining - 1);
    await world.settle();

    const path = `/servers/${made.body.id}`;
    const running = (await api.get(path)).body;
    assert.equal(running.status, 'running');
    const { body: listed } = await api.get('/servers?filter[status]=running&filter[tag]=web');
    assert.deepEqual(listed.data, [running]);

    const named = await api.post(`${path}/rdns`, { ipv4: 'web.example.org', ipv6: null });
    assert.equal(named.status, 200, named.text);
    assert.equal(named.body.ipv4.rdns, 'web.example.org');
    const patched = await api.patch(path, { name: 'web-2', labels: {} });
    assert.deepEqual([patched.status, patched.body.name, patched.body.labels], [200, 'web-2', {}]);
    assert.deepEqual((await api.get(path)).body, patched.body);

    await world.advance(3 * 3600);
    const metrics = (await api.get(`${path}/metrics`)).body;
    assert.equal(metrics.series.net_out_bps.length, 4);
    for (const url of [path, `${path}/metrics`])
      assertApiError(await otherCustomer.get(url), 404, 'not_found');
    assertApiError(await otherCustomer.patch(path, { name: 'x' }), 404, 'not_found');
    assertApiError(await otherCustomer.post(`${path}/rdns`, { ipv4: 'x' }), 404, 'not_found');
  });

  it('a malformed order is rejected with every invalid field', async () => {
    const answer = await api.post('/servers', {
      name: '1',
      tags: ['', 'a\u0000'.slice(0, 1)],
      ssh_keys: [],
      ipv4: null,
    });
    const items = assertApiError(answer, 400, 'invalid_request').map((item) => `${item.field} ${item.issue}`);
    const wanted = [
      'image required',
      'ipv4 unknown_key',
      'name invalid_format',
      'plan required',
      'region required',
    ];
    assert.deepEqual(items.toSorted(), [...wanted, 'ssh_keys min_items', 'tags.0 min_length']);
    const pairs = (count: number) =>
      Object.fromEntries(Array.from({ length: count }, (_, n) => [`k${n}`, '']));
    const cases: [wrong: object, field: string, issue: string, bound?: object][] = [
      [{ name: `a${'b'.repeat(63)}` }, 'name', 'max_length', { max: 63 }],
      [{ name: 'Web' }, 'name', 'invalid_format'],
      [{ name: null }, 'name', 'invalid_type'],
      [{ ssh_keys: [] }, 'ssh_keys', 'min_items', { min: 1 }],
      [{ ssh_keys: [1] }, 'ssh_keys.0', 'invalid_type'],
      [{ tags: ['a'.repeat(64)] }, 'tags.0', 'max_length', { max: 63 }],
      [{ tags: ['a\u200b'] }, 'tags.0', 'invalid_format'],
      [{ labels: { 'A b': 'x' } }, 'labels.A b', 'invalid_format'],
      [{ labels: { ['a'.repeat(64)]: 'x' } }, `labels.${'a'.repeat(64)}`, 'invalid_format'],
      [{ labels: { a: 1 } }, 'labels.a', 'invalid_type'],
      [{ labels: { a: 'x'.repeat(256) } }, 'labels.a', 'max_length', { max: 255 }],
      [{ labels: pairs(33) }, 'labels', 'max_items', { max: 32 }],
      [{ billing_months: 2 }, 'billing_months', 'invalid_value', { allowed: [1, 3, 6, 12] }],
      [{ auto_renew: 'no' }, 'auto_renew', 'invalid_type'],
      [{ user_data_b64: '?' }, 'user_data_b64', 'invalid_format'],
      [{ status: 'running' }, 'status', 'unknown_key'],
    ];
    for (const [wrong, field, issue, bound = {}] of cases) {
      const refused = await api.post('/servers', { ...order, ...wrong });
      const items = assertApiError(refused, 400, 'invalid_request');
      // The response also includes the allowed values. This test checks only the issues.
      const faults = items.map(({ expected, pattern, format, ...item }) => item);
      assert.deepEqual(faults, [{ field, issue, ...bound }], refused.text);
    }
    assert.equal((await api.get('/servers')).body.data.length, 1);
  });

  it('an order with an unknown or insufficient reference is rejected with the field', async () => {
    const cases: [wrong: object, item: object][] = [
      [{ plan: 'x' }, { field: 'plan', issue: 'not_found' }],
      [{ region: 'rek' }, { field: 'region', issue: 'not_found' }],
      [{ image: 'debian-12' }, { field: 'image', issue: 'not_found' }],
      [{ ssh_keys: [key, MISSING_KEY_ID] }, { field: 'ssh_keys.1', issue: 'not_found' }],
      [
        { plan: 'r3', region: 'buh' },
        { field: 'plan', issue: 'unavailable' },
      ],
      [{ tags: Array.from({ length: 33 }, () => 'a') }, { field: 'tags', issue: 'limit_reached', limit: 32 }],
    ];
    for (const [wrong, item] of cases) {
      const refused = await api.post('/servers', { ...order, ...wrong });
      assert.deepEqual(assertApiError(refused, 422, 'unprocessable'), [item], refused.text);
    }
    const own = await unfundedCustomer.post('/ssh-keys', { name: 'mine', public_key: PUBLIC_KEY });
    const broke = await unfundedCustomer.post('/servers', {
      ...order,
      ssh_keys: [own.body.id],
      billing_months: 12,
    });
    assert.deepEqual(assertApiError(broke, 422, 'unprocessable'), [
      { field: 'plan', issue: 'insufficient_balance', have: 0, need: 44.1, deficit: 44.1 },
    ]);
    const theirs = await unfundedCustomer.post('/servers', { ...order });
    const [item] = assertApiError(theirs, 422, 'unprocessable');
    assert.deepEqual(item, { field: 'ssh_keys.0', issue: 'not_found' });
  });

  it('host names must follow RFC 1123, and read-only fields cannot be set', async () => {
    const [server] = (await api.get('/servers')).body.data;
    const path = `/servers/${server.id}`;
    const good = ['a', 'a.b', '1a.2b', 'xn--bcher-kva.example', `${'a'.repeat(63)}.de`, 'A-1.B'];
    for (const ipv4 of good) assert.equal((await api.post(`${path}/rdns`, { ipv4 })).body.ipv4.rdns, ipv4);
    const bad = [
      '',
      'a.',
      '.a',
      'a..b',
      '-a',
      'a-',
      'a_b',
      'a b',
      'ä.de',
      'a\r\nb',
      'a.b\n',
      '10.0.0.1',
      `${'a'.repeat(64)}.de`,
    ];
    for (const ipv6 of [...bad, `${'a.'.repeat(126)}aa`]) {
      const [item] = assertApiError(await api.post(`${path}/rdns`, { ipv6 }), 400, 'invalid_request');
      assert.equal(item.field, 'ipv6', ipv6);
    }
    assertApiError(await api.post(`${path}/rdns`), 400, 'invalid_request');
    for (const field of ['status', 'plan', 'region', 'image', 'ipv4', 'ssh_keys', 'paid_until', 'id']) {
      const refused = await api.patch(path, { [field]: server[field] });
      assert.deepEqual(assertApiError(refused, 400, 'invalid_request'), [{ field, issue: 'unknown_key' }]);
    }
    assert.deepEqual((await api.patch(path, {})).body, {
      ...server,
      ipv4: { ...server.ipv4, rdns: 'A-1.B' },
      updated_at: (await api.get(path)).body.updated_at,
    });
  });
});
