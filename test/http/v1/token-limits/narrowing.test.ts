/** Limits can only be narrowed, and a token never exceeds its creator. */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import fc from 'fast-check';
import { verify } from '../../../../src/domain/verify/verify.ts';
import { LIMIT_OPERATIONS } from '../../../../src/spec/token-limits.ts';
import { PROPERTY_RUNS } from '../../../support/runs.ts';
import { assertApiError, createApiToken, type JsonBody, V1Client } from '../../../support/v1-client.ts';
import { startWorld, type World } from '../../../support/world.ts';
import { NO_RATES } from '../contract/estate.ts';
import { type LimitedToken, limited } from './limited-world.ts';

const LABELS = [{}, { env: 'ci' }, { env: 'ci', team: 'web' }, { team: 'web' }] as const;

const OPERATIONS = ['volumes.list', 'tokens.create', 'volumes.get', 'servers.unprotect'] as const;
const NETWORKS = ['0.0.0.0/0', '10.0.0.0/8', '10.1.0.0/16', '10.1.2.3', '::/0', '2001:db8::/32'];

let world: World;
let api: V1Client;
let volumes: JsonBody[];
let regions: string[];

before(async () => {
  world = await startWorld({ ...NO_RATES, SKERRY_QUOTAS: 'tokens=100000' });
  api = V1Client.forApp(world.http, await createApiToken(await world.customer()));
  const known = (await api.get('/regions')).body.data.map(({ id }: JsonBody) => id);
  regions = known.slice(0, 2);
  volumes = [];
  for (const [index, labels] of LABELS.entries()) {
    const region = regions[index % regions.length];
    const body = { name: `volume-${index}`, size_gb: 10, region, labels };
    volumes.push((await api.post('/volumes', body)).body);
  }
});
after(() => world.close());

const some = <T>(items: readonly T[]) => fc.subarray([...items], { minLength: 1 });
const maybe = <T>(arbitrary: fc.Arbitrary<T>) => fc.option(arbitrary, { nil: undefined, freq: 1 });
/** Volumes and regions by their index. */
const LIMITS = fc.record(
  {
    ip_cidrs: maybe(some(NETWORKS)),
    operations: maybe(some(OPERATIONS)),
    resources: maybe(some([0, 1, 2, 3])),
    label_selector: maybe(fc.constantFrom('env=ci', 'team=web', 'env=ci,team=web')),
    regions: maybe(some([0, 1])),
    spend_usd: maybe(fc.constantFrom(0, 5, 10, 20)),
    spend_period: maybe(fc.constantFrom('total', 'month')),
    max_servers: maybe(fc.integer({ min: 0, max: 3 })),
  },
  { requiredKeys: [] },
);

function toBody(limits: JsonBody): JsonBody {
  const { resources, regions: chosen, ...rest } = limits;
  const body = {
    ...rest,
    ...(resources ? { resources: resources.map((index: number) => volumes[index]?.id) } : {}),
    ...(chosen ? { regions: chosen.map((index: number) => regions[index]) } : {}),
  };
  return Object.fromEntries(Object.entries(body).filter(([, value]) => value !== undefined));
}

/** The volumes that the limits of a token leave, read from its chain as the service applies it. */
async function reachOf(token: LimitedToken): Promise<string[]> {
  const operations = await world.opened.db.row<{ limits: JsonBody[] }>(
    `select limits from api_tokens where digest = any(select digest from api_tokens) and limits is not null
      and id = $1`,
    [await internalId(token)],
  );
  const every = operations?.limits ?? [];
  return volumes
    .filter(({ id, labels, region }) =>
      every.every(({ resources, labels: selected, regions: chosen }) => {
        const isNamed = resources?.includes(id) ?? false;
        const isSelected =
          selected && Object.entries(selected).every(([key, value]) => labels[key] === value);
        const isClause = !resources && !selected;
        return (isClause || isNamed || isSelected) && (!chosen || chosen.includes(region));
      }),
    )
    .map(({ id }) => id)
    .sort();
}

async function internalId({ id }: LimitedToken): Promise<string> {
  const { parseId } = await import('../../../../src/kernel/ids.ts');
  return parseId('token', id) ?? assert.fail();
}

interface Power {
  readonly volumes: readonly string[];
  readonly operations: readonly string[];
  readonly limits: JsonBody;
}

async function powerOf(token: LimitedToken): Promise<Power> {
  const { limits } = (await api.get(`/account/tokens/${token.id}`)).body;
  const row = await world.opened.db.row<{ limits: JsonBody[] | null }>(
    'select limits from api_tokens where id = $1',
    [await internalId(token)],
  );
  const operations = LIMIT_OPERATIONS.filter((operation) =>
    (row?.limits ?? []).every((own) => !own.operations || own.operations.includes(operation)),
  );
  return { volumes: await reachOf(token), operations, limits: limits ?? {} };
}

function assertWithin(inner: Power, outer: Power): void {
  for (const id of inner.volumes) assert.ok(outer.volumes.includes(id), 'a volume outside');
  for (const operation of inner.operations) assert.ok(outer.operations.includes(operation), operation);
  for (const name of ['spend_usd', 'max_servers'] as const) {
    const bound = outer.limits[name] ?? null;
    if (bound !== null) assert.ok((inner.limits[name] ?? Infinity) <= bound, name);
  }
  if (outer.limits.ip_cidrs) assert.ok(inner.limits.ip_cidrs, 'networks');
  if (outer.limits.spend_usd != null && outer.limits.spend_period === 'total')
    assert.equal(inner.limits.spend_period, 'total');
}

describe('the limits of tokens', () => {
  it('no sequence of children and changes gives a token more than its maker or than before', async () => {
    const steps = fc.array(
      fc.record({ kind: fc.constantFrom('child', 'patch', 'patch'), at: fc.nat(5), limits: LIMITS }),
      { minLength: 1, maxLength: 6 },
    );
    await fc.assert(
      fc.asyncProperty(LIMITS, steps, async (first, all) => {
        const tokens: { readonly token: LimitedToken; readonly maker: LimitedToken | null }[] = [
          { token: await limited(api, toBody(first)), maker: null },
        ];
        for (const { kind, at, limits } of all) {
          const { token } = tokens[at % tokens.length] ?? assert.fail();
          const before = await powerOf(token);
          if (kind === 'child') {
            const body = { name: 'child', scope: 'write', limits: toBody(limits) };
            const made = await token.api.post('/account/tokens', body);
            if (made.status === 201) {
              const { id, token: plaintext } = made.body;
              const child = { id, plaintext, api: api.withToken(plaintext) };
              tokens.push({ token: child, maker: token });
            } else assert.ok([403, 422].includes(made.status), made.text);
          } else {
            const changed = await api.patch(`/account/tokens/${token.id}`, { limits: toBody(limits) });
            if (changed.status !== 200) assertApiError(changed, 403, 'forbidden_scope');
            assertWithin(await powerOf(token), before);
          }
          for (const { token: each, maker } of tokens)
            if (maker) assertWithin(await powerOf(each), await powerOf(maker));
        }
        for (const { token } of tokens) await assertListed(token);
      }),
      { numRuns: PROPERTY_RUNS },
    );
  });

  /** The list shows exactly the volumes of the rule. */
  async function assertListed(token: LimitedToken): Promise<void> {
    const { status, body } = await token.api.get('/volumes');
    if (status === 403) return;
    assert.deepEqual(body.data.map(({ id }: JsonBody) => id).sort(), await reachOf(token));
  }

  it('a limit cannot be widened or lifted, and the refusal names it', async () => {
    const { id } = await limited(api, {
      ip_cidrs: ['10.0.0.0/8'],
      operations: ['volumes.list'],
      label_selector: 'env=ci',
      regions: regions.slice(0, 1),
      spend_usd: 10,
      max_servers: 1,
    });
    const wider = [
      { ip_cidrs: ['0.0.0.0/0'] },
      { ip_cidrs: null },
      { operations: ['volumes.list', 'volumes.get'] },
      { label_selector: 'team=web' },
      { label_selector: null },
      { resources: [volumes[0]?.id] },
      { regions: null },
      { spend_usd: 10.01 },
      { spend_period: 'month' },
      { max_servers: 2 },
    ];
    for (const limits of wider) {
      const [item] = assertApiError(
        await api.patch(`/account/tokens/${id}`, { limits }),
        403,
        'forbidden_scope',
      );
      assert.equal(item?.issue, 'not_allowed');
    }
    const narrower = {
      ip_cidrs: ['10.1.2.3'],
      label_selector: 'env=ci,team=web',
      spend_usd: 9,
      max_servers: 0,
    };
    const { status, body, text } = await api.patch(`/account/tokens/${id}`, { limits: narrower });
    assert.equal(status, 200, text);
    assert.deepEqual(body.limits.ip_cidrs, ['10.1.2.3/32']);
  });

  it('a narrowed token narrows the tokens that it created at once', async () => {
    const maker = await limited(api, { regions });
    const child = await limited(maker.api, {}, 'write');
    assert.equal((await child.api.get('/volumes')).body.data.length, volumes.length);
    await api.patch(`/account/tokens/${maker.id}`, { limits: { label_selector: 'env=ci,team=web' } });
    assert.equal((await child.api.get('/volumes')).body.data.length, 1);
    assert.equal((await api.get(`/account/tokens/${child.id}`)).body.limits.label_selector, null);
  });

  it('a token outside its networks gets 403, and its networks are stored sealed', async () => {
    const outside = await limited(api, { ip_cidrs: ['203.0.113.0/24'] });
    const [item] = assertApiError(await outside.api.get('/volumes'), 403, 'forbidden_scope');
    assert.deepEqual(item, { field: 'limits.ip_cidrs', issue: 'not_allowed' });
    const inside = await limited(api, { ip_cidrs: ['127.0.0.0/8', '::1'] });
    assert.equal((await inside.api.get('/volumes')).status, 200);
    for (const table of ['api_tokens', 'events', 'audit_events', 'idempotency']) {
      const rows = await world.opened.db.rows<{ text: string }>(`select t::text as text from ${table} t`);
      assert.ok(!rows.some(({ text }) => text.includes('203.0.113')), table);
    }
  });

  it('a limited token sees only itself and the tokens that it created, and cannot rotate', async () => {
    const maker = await limited(api, { label_selector: 'env=ci' });
    const child = await limited(maker.api, {}, 'write');
    const seen = (await maker.api.get('/account/tokens')).body.data.map(({ id }: JsonBody) => id);
    assert.deepEqual(seen.sort(), [maker.id, child.id].sort());
    assertApiError(await child.api.delete(`/account/tokens/${maker.id}`), 404, 'not_found');
    const spender = await limited(api, { spend_usd: 1 });
    const heir = await limited(spender.api, {}, 'write');
    assert.equal((await heir.api.delete(`/account/tokens/${spender.id}`)).status, 204);
    assertApiError(await heir.api.get('/account'), 401, 'unauthenticated');
  });

  it('a change that limits nothing leaves the token unlimited', async () => {
    const { body: token } = await api.post('/account/tokens', { name: 'ci', scope: 'read' });
    for (const limits of [{ spend_period: 'month' }, { regions: null }]) {
      const { status, body } = await api.patch(`/account/tokens/${token.id}`, { limits });
      assert.deepEqual([status, body.limits], [200, null]);
    }
    const broken = (await verify(world.opened.service)).filter((finding) => finding.broken > 0n);
    assert.deepEqual(
      broken.map(({ invariant }) => invariant.name),
      [],
    );
  });

  it('GET /account shows the limits of the token', async () => {
    const token = await limited(api, { operations: ['account.get'], max_servers: 3 });
    const { limits } = (await token.api.get('/account')).body.token;
    assert.deepEqual([limits.operations, limits.max_servers], [['account.get'], 3]);
    assert.equal((await api.get('/account')).body.token.limits, null);
  });

  it('limits name only what exists', async () => {
    const make = (limits: object) => api.post('/account/tokens', { name: 'ci', scope: 'read', limits });
    const unknown = `vol_${'a'.repeat(26)}`;
    const [resource] = assertApiError(
      await make({ resources: [volumes[0]?.id, unknown] }),
      422,
      'unprocessable',
    );
    assert.deepEqual(resource, { field: 'limits.resources.1', issue: 'not_found' });
    const [region] = assertApiError(await make({ regions: ['nowhere'] }), 422, 'unprocessable');
    assert.deepEqual(region, { field: 'limits.regions.0', issue: 'not_found' });
    for (const limits of [{ ip_cidrs: ['10.0.0.1/8'] }, { label_selector: 'env' }, { operations: ['x'] }])
      assertApiError(await make(limits), 400, 'invalid_request');
  });
});
