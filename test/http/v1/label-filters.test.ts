/** The filter `label` of the lists of servers, volumes, and snapshots. */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import fc from 'fast-check';
import { PATTERNS } from '../../../src/spec/patterns.ts';
import { PROPERTY_RUNS } from '../../support/runs.ts';
import { seededRuns } from '../../support/seed.ts';
import {
  assertApiError,
  createApiToken,
  type JsonBody,
  V1Client,
  type V1Response,
} from '../../support/v1-client.ts';
import { startWorld, type World } from '../../support/world.ts';
import { NO_RATES, PUBLIC_KEY } from './contract/estate.ts';

type Labels = Readonly<Record<string, string>>;

const LISTS = ['/servers', '/volumes', '/snapshots'];
/** Labels of the items in each list, oldest first. */
const LABELS: readonly Labels[] = [
  { env: 'prod', tier: 'web' },
  { env: 'prod', tier: 'db', note: '' },
  { env: 'test', tier: 'web', url: 'http://a:80/?b=c&d' },
  {},
  { env: 'prod', tier: 'web', team: 'blue' },
];

let world: World;
let api: V1Client;
let otherCustomer: V1Client;

before(async () => {
  world = await startWorld(NO_RATES);
  api = V1Client.forApp(world.http, await createApiToken(await world.customer(90)));
  otherCustomer = api.withToken(await createApiToken(await world.customer()));
  const { id: key } = made(await api.post('/ssh-keys', { name: 'laptop', public_key: PUBLIC_KEY }));
  const image = (await api.get('/images?family=alpine')).body.data[0].id;
  const order = { plan: 's1', region: 'par', image, ssh_keys: [key] };
  const servers: string[] = [];
  for (const [i, labels] of LABELS.entries()) {
    servers.push(made(await api.post('/servers', { ...order, name: `n${i}`, labels })).id);
  }
  await world.advance(10);
  for (const [i, labels] of LABELS.entries()) {
    made(await api.post('/volumes', { name: `n${i}`, size_gb: 10, region: 'par', labels }));
    made(await api.post(`/servers/${servers[i]}/snapshots`, { name: `n${i}`, labels }));
    await world.advance(1);
  }
  await otherCustomer.post('/volumes', { name: 'other', size_gb: 10, region: 'par', labels: LABELS[0] });
});
after(() => world.close());

function made({ status, body, text }: V1Response): JsonBody {
  assert.ok(status < 300, text);
  return body;
}

function queryOf(labels: readonly string[]): string {
  return labels.map((label) => `label=${encodeURIComponent(label)}`).join('&');
}

/** Reads all pages, starting with this query. */
async function walk(path: string, query: string): Promise<JsonBody[]> {
  const items: JsonBody[] = [];
  let cursor = '';
  for (let page = 0; page < 50; page++) {
    const body = made(await api.get(`${path}?${query}${cursor}`));
    items.push(...body.data);
    if (!body.has_more) return items;
    cursor = `&cursor=${encodeURIComponent(body.next_cursor)}`;
  }
  throw new Error('the list does not end');
}

const names = async (path: string, query: string) => (await walk(path, query)).map(({ name }) => name);

describe('the filter by label', () => {
  it('a list contains the items that have all labels of the filter, on all its pages', async () => {
    const cases: [labels: string[], names: string[]][] = [
      [['env:prod'], ['n0', 'n1', 'n4']],
      [
        ['env:prod', 'tier:web'],
        ['n0', 'n4'],
      ],
      [['tier:web', 'env:prod', 'team:blue'], ['n4']],
      [
        ['env:prod', 'env:prod'],
        ['n0', 'n1', 'n4'],
      ],
      [['env:prod', 'env:test'], []],
      [['note:'], ['n1']],
      [['env:'], []],
      [['url:http://a:80/?b=c&d'], ['n2']],
      [['env:pro'], []],
      [['unknown:prod'], []],
      [['prod:env'], []],
      [['__proto__:x'], []],
    ];
    for (const path of LISTS) {
      for (const [labels, expected] of cases) {
        for (const size of [1, 2, 100]) {
          const query = `${queryOf(labels)}&sort=created_at&page_size=${size}`;
          assert.deepEqual(await names(path, query), expected, `${path} ${query}`);
        }
      }
    }
  });

  it('a list combines labels with its other filters, in both orders of both sorts', async () => {
    for (const path of LISTS) {
      for (const sort of ['created_at', 'name']) {
        const query = `${queryOf(['env:prod'])}&page_size=1`;
        assert.deepEqual(await names(path, `${query}&sort=${sort}`), ['n0', 'n1', 'n4']);
        assert.deepEqual(await names(path, `${query}&sort=-${sort}`), ['n4', 'n1', 'n0']);
        assert.deepEqual(await names(path, `${query}&sort=${sort}&filter[name]=n1`), ['n1']);
        assert.deepEqual(await names(path, `${query}&sort=${sort}&filter[name]=n2`), []);
      }
    }
    const { server } = made(await api.get('/snapshots?filter[name]=n1')).data[0];
    const ofServer = `filter[server]=${server}&filter[status]=ready`;
    assert.deepEqual(await names('/snapshots', `${ofServer}&${queryOf(['env:prod'])}`), ['n1']);
    assert.deepEqual(await names('/snapshots', `${ofServer}&${queryOf(['env:test'])}`), []);
  });

  it('a cursor belongs to its labels, in any order, and to its reader', async () => {
    for (const path of LISTS) {
      const labels = queryOf(['env:prod', 'tier:web']);
      const { next_cursor } = made(await api.get(`${path}?${labels}&page_size=1`));
      const cursor = `cursor=${encodeURIComponent(next_cursor)}`;
      const read = (query: string, client = api) => client.get(`${path}?${query}&${cursor}`);
      for (const query of [labels, queryOf(['tier:web', 'env:prod', 'tier:web'])]) {
        assert.deepEqual(
          made(await read(query)).data.map(({ name }: JsonBody) => name),
          ['n0'],
        );
      }
      for (const query of ['', queryOf(['env:prod']), queryOf(['env:prod', 'tier:web', 'team:blue'])]) {
        const [item] = assertApiError(await read(query), 400, 'invalid_request');
        assert.equal(item.field, 'cursor', `${path} ${query}`);
      }
      const [item] = assertApiError(await read(labels, otherCustomer), 400, 'invalid_request');
      assert.equal(item.field, 'cursor');
    }
  });

  it('another customer’s items never match', async () => {
    for (const path of LISTS) {
      const { data } = made(await otherCustomer.get(`${path}?${queryOf(['env:prod'])}`));
      const expected = path === '/volumes' ? ['other'] : [];
      assert.deepEqual(
        data.map(({ name }: JsonBody) => name),
        expected,
      );
    }
  });

  it('a malformed label gets 400 with the syntax', async () => {
    const { pattern } = PATTERNS.labelFilter;
    const malformed = [
      ...['', 'env', ':', ':prod', 'Env:prod', 'e nv:prod', 'env=prod', 'é:prod', `${'k'.repeat(64)}:x`],
      ...[`env:${'x'.repeat(256)}`, 'env:a\u0000', 'env:a\nb', 'env:\u200b', 'env:a\ntier:web'],
    ];
    for (const path of LISTS) {
      for (const label of malformed) {
        for (const labels of [[label], ['env:prod', label]]) {
          const answer = await api.get(`${path}?${queryOf(labels)}`);
          const items = assertApiError(answer, 400, 'invalid_request');
          assert.deepEqual(items, [{ field: 'label', issue: 'invalid_format', pattern }], label);
          assert.match(answer.body.error.message, /^label must be key:value, such as env:prod, with a key/);
        }
      }
    }
    assert.deepEqual(await names('/volumes', queryOf([`${'k'.repeat(63)}:${'🧊'.repeat(255)}`])), []);
  });

  it('a filter has at most as many labels as an item', async () => {
    const labels = (n: number) => queryOf(Array.from({ length: n }, (_, i) => `k${i}:`));
    for (const path of LISTS) {
      assert.deepEqual(await names(path, labels(32)), []);
      assert.deepEqual(assertApiError(await api.get(`${path}?${labels(33)}`), 400, 'invalid_request'), [
        { field: 'label', issue: 'max_items', max: 32 },
      ]);
    }
  });

  it('the filter has one spelling, and other lists do not have it', async () => {
    for (const query of [
      ...LISTS.map((path) => `${path}?filter[label]=env:prod`),
      ...LISTS.map((path) => `${path}?label[]=env:prod`),
      '/firewall/groups?label=env:prod',
      '/firewall/groups?label=env:prod&label=tier:web',
      '/images?label=env:prod',
    ]) {
      const [item] = assertApiError(await api.get(query), 400, 'invalid_request');
      assert.deepEqual([`${query.split('?')[1]?.split('=')[0]}`, 'unknown_key'], [item.field, item.issue]);
    }
  });

  const KEYS = ['env', 'tier', '__proto__', 'constructor', '-', '0'];
  const VALUES = ['', 'prod', 'a:b', ':', ' x ', '%', '+', '"', '\\', '{"a":1}', 'ü🧊', 'a&label=env:prod'];
  const ofItem = fc.dictionary(fc.constantFrom(...KEYS), fc.constantFrom(...VALUES), { maxKeys: 4 });
  const filter = fc.array(fc.tuple(fc.constantFrom(...KEYS), fc.constantFrom(...VALUES)), {
    minLength: 1,
    maxLength: 3,
  });

  it('a filter finds the same volumes as a plain model', async (t) => {
    const customer = V1Client.forApp(world.http, await createApiToken(await world.customer()));
    const body = { name: 'data', size_gb: 10, region: 'par' };
    const ids: string[] = [];
    for (let i = 0; i < 6; i++) ids.push(made(await customer.post('/volumes', body)).id);
    const property = fc.asyncProperty(
      fc.array(ofItem, { minLength: ids.length, maxLength: ids.length }),
      fc.array(filter, { minLength: 1, maxLength: 8 }),
      async (labels, filters) => {
        for (const [i, id] of ids.entries()) {
          made(await customer.patch(`/volumes/${id}`, { labels: labels[i] }));
        }
        // A filter that some volume matches: few random ones do.
        const matching = labels.map((own) => Object.entries(own)).filter((own) => own.length > 0);
        for (const pairs of [...filters, ...matching]) {
          const query = queryOf(pairs.map(([key, value]) => `${key}:${value}`));
          const found = made(await customer.get(`/volumes?${query}&page_size=100`)).data;
          const expected = ids.filter((_, i) =>
            pairs.every(([key, value]) =>
              Object.entries(labels[i] ?? {}).some(([k, v]) => k === key && v === value),
            ),
          );
          assert.deepEqual(found.map(({ id }: JsonBody) => id).sort(), expected.sort(), query);
        }
      },
    );
    await fc.assert(property, seededRuns(t, PROPERTY_RUNS));
  });
});
