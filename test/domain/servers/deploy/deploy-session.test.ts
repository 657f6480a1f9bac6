import assert from 'node:assert/strict';
import { after, before, beforeEach, describe, it, mock } from 'node:test';
import { verify } from 'unixcrypt';
import type { CustomerActor, SaveResponse } from '../../../../src/domain/context.ts';
import {
  type DeployForm,
  deploySession,
  type SessionDeployment,
} from '../../../../src/domain/servers/deploy/deploy-session.ts';
import { rootPasswordHasher } from '../../../../src/kernel/crypt/crypt.ts';
import { Failure } from '../../../../src/kernel/fail.ts';
import { SEALED } from '../../../../src/spec/sealed.ts';
import { dumpTables } from '../../../support/dump-tables.ts';
import { R1, S1, type TestPlan } from '../../../support/fixtures.ts';
import { startTestService, type TestService } from '../../../support/test-service.ts';

/** Three months of it cost 11.295 dollars before rounding. */
const S2: TestPlan = { ...S1, id: 's2', price_cents_month: 502n };
const PASSWORD = 'canary root password';

let world: TestService;
let actor: CustomerActor;

before(async () => {
  world = await startTestService();
  await world.fixtures.addPlans(['par'], [S1, S2, R1]);
  await world.fixtures.addHosts([50]);
  await world.fixtures.addMachines(1);
  await world.fixtures.addAddresses(50);
});
after(() => world.close());
beforeEach(async () => {
  actor = await world.fixtures.addCustomer(10_000n);
});

const form = (wanted: Partial<DeployForm> = {}): DeployForm => ({
  product: 'vps',
  plan: 's1',
  region: 'par',
  os: 'debian-13',
  billing: '1',
  rootPassword: PASSWORD,
  ...wanted,
});
const submit = (wanted: Partial<DeployForm> = {}) => deploySession(world.service, actor, form(wanted));

async function refusal(wanted: Partial<DeployForm>): Promise<Failure> {
  const error: unknown = await submit(wanted).then(
    () => assert.fail('the deploy succeeded'),
    (reason: unknown) => reason,
  );
  assert.ok(error instanceof Failure, String(error));
  return error;
}

describe('concurrent deploys from the form', () => {
  it('concurrent deploys hash only the passwords of orders that can be paid', async () => {
    actor = await world.fixtures.addCustomer(3n * S1.price_cents_month);
    const hashes = mock.method(rootPasswordHasher, 'hash');
    try {
      // More than the hashing thread's queue can hold.
      const ends = await Promise.allSettled(Array.from({ length: 400 }, () => submit()));
      assert.equal(ends.filter((end) => end.status === 'fulfilled').length, 3);
      const codes = ends.flatMap((end) => (end.status === 'rejected' ? [(end.reason as Failure).code] : []));
      assert.deepEqual([...new Set(codes)], ['insufficient_balance']);
      assert.ok(hashes.mock.callCount() < 100, `${hashes.mock.callCount()} passwords were hashed`);
    } finally {
      hashes.mock.restore();
    }
  });
});

describe('a deploy from the form', () => {
  it('a form deploy creates a paid server of the plan with a valid host name', async () => {
    const { serverNo } = await submit({ plan: 's2', billing: '3' });
    const row = await world.db.row<Record<string, unknown>>(
      `select name, plan_id, region_id, billing_months, auto_renew, price_cents_month, price_cents_cycle,
              eur_per_usd
         from servers where public_no = $1`,
      [serverNo],
    );
    const { name, ...others } = row ?? {};
    assert.match(String(name), /^s2-[a-z2-7]{6}$/);
    assert.deepEqual(others, {
      plan_id: 's2',
      region_id: 'par',
      billing_months: 3,
      auto_renew: true,
      price_cents_month: 502n,
      price_cents_cycle: 1_130n,
      eur_per_usd: '0.92',
    });
  });

  it('a form deploy shows euros: the month without discount, the cycle with it', async () => {
    const { monthlyEurCents, totalEurCents } = await submit({ plan: 's2', billing: '12' });
    assert.deepEqual([monthlyEurCents, totalEurCents], [462n, 2_771n]);
  });

  it('a form deploy for the product dedi creates a dedicated server', async () => {
    const { serverNo } = await submit({ product: 'dedi', plan: 'r1' });
    const row = await world.db.row<{ placed: boolean }>(
      'select machine_id is not null and host_id is null as placed from servers where public_no = $1',
      [serverNo],
    );
    assert.deepEqual(row, { placed: true });
  });

  it('a form deploy saves the final response in its commit', async () => {
    const seen: unknown[] = [];
    const saveResponse: SaveResponse = async (tx, inside) => {
      const { serverNo } = inside as SessionDeployment;
      assert.ok(await tx.row('select 1 from servers where public_no = $1', [serverNo]));
      seen.push(inside);
    };
    const deployment = await deploySession(world.service, { ...actor, saveResponse }, form());
    assert.deepEqual(seen, [deployment]);
  });
});

describe('deploy form fields', () => {
  const WRONG: readonly [Partial<DeployForm>, string][] = [
    [{ product: 'dedicated' }, 'bad_product'],
    [{ plan: 'r1' }, 'bad_plan'],
    [{ region: 'rkv' }, 'bad_region'],
    [{ os: 'plan9' }, 'bad_os'],
    [{ billing: '2' }, 'bad_billing'],
    [{ rootPassword: 'elevenchars' }, 'bad_password'],
  ];

  it('deploy form fields are checked in order, and the first invalid one is named', async () => {
    const before = await dumpTables(world.db);
    for (let first = 0; first < WRONG.length; first++) {
      const wrong = Object.assign({}, ...WRONG.slice(first).map(([fields]) => fields)) as Partial<DeployForm>;
      assert.equal((await refusal(wrong)).code, WRONG[first]?.[1]);
    }
    assert.deepEqual(await dumpTables(world.db), before);
  });

  it('deploy form fields refuse empty values and names of Object members', async () => {
    for (const [n, field] of (['product', 'plan', 'region', 'os', 'billing'] as const).entries()) {
      for (const text of ['', '__proto__', 'constructor', 'toString', ' ']) {
        assert.equal(
          (await refusal({ [field]: text })).code,
          WRONG[n]?.[1],
          `${field} ${JSON.stringify(text)}`,
        );
      }
    }
  });

  it('the billing field accepts a cycle of 1, 3, 6, or 12 months, in plain digits only', async () => {
    for (const billing of ['0', '-1', '1.0', '+1', '1e0', ' 1', '١', '2', '24', '112']) {
      const { code, extras } = await refusal({ billing });
      assert.deepEqual([code, extras], ['bad_billing', { allowed: [1, 3, 6, 12] }], billing);
    }
  });

  it('deploy form fields are checked before the balance', async () => {
    actor = await world.fixtures.addCustomer(0n);
    assert.equal((await refusal({ rootPassword: 'short' })).code, 'bad_password');
    assert.equal((await refusal({})).code, 'insufficient_balance');
  });
});

describe('root password', () => {
  it('a root password must have 12 to 128 printable characters, and the refusal names the rule', async () => {
    const short = /12 or more characters/;
    for (const [rootPassword, hint] of [
      ['', short],
      ['elevenchars', short],
      ['🙂'.repeat(11), short],
      ['x'.repeat(129), /at most 128/],
      ['tab\tin the middle', /printable/],
      ['line\nin the middle', /printable/],
      ['nothing\u0000after this', /printable/],
      ['hidden\u200bcharacter', /printable/],
      ['another line\u2028after this', /printable/],
      ['a paragraph\u2029after this', /printable/],
    ] as const) {
      const failure = await refusal({ rootPassword });
      assert.equal(failure.code, 'bad_password');
      assert.match(String(failure.extras.hint), hint);
      assert.match(String(failure.extras.hint), /12/);
    }
  });

  it('a root password may have the shortest and longest length, in any script', async () => {
    for (const rootPassword of [
      'twelve chars',
      'x'.repeat(128),
      '🙂'.repeat(12),
      'пароль из слов',
      '            ',
    ]) {
      assert.ok((await submit({ rootPassword })).serverNo);
    }
  });

  it('a root password is stored only as a sealed crypt hash', async () => {
    const { serverNo } = await submit();
    const row = await world.db.row<{ id: string; sealed: string }>(
      'select id, root_password_sealed as sealed from servers where public_no = $1',
      [serverNo],
    );
    const hash = world.service.keys
      .open(SEALED.rootPassword, row?.id ?? '', row?.sealed ?? '')
      .toString('utf8');
    assert.match(hash, /^\$6\$[a-z2-7]{16}\$[./A-Za-z0-9]{86}$/);
    assert.ok(verify(PASSWORD, hash));
    assert.ok(!verify(`${PASSWORD}.`, hash));
    const everything = JSON.stringify(await dumpTables(world.db));
    assert.ok(!everything.includes('canary') && !everything.includes(hash));
  });
});
