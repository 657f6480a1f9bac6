import assert from 'node:assert/strict';
import { createHmac } from 'node:crypto';
import { after, before, describe, it } from 'node:test';
import fc from 'fast-check';
import {
  type AttemptCounter,
  MemoryAttempts,
  SharedAttempts,
} from '../../../src/domain/sessions/attempts.ts';
import { addressBuckets, addressNetworks } from '../../../src/http/admission/address-buckets.ts';
import { KeyRing } from '../../../src/kernel/secrets.ts';
import { DAY_MS, HOUR_MS } from '../../../src/kernel/time.ts';
import { openScratchDatabase, type ScratchDatabase } from '../../support/database.ts';
import { PROPERTY_RUNS } from '../../support/runs.ts';
import { type HttpWorld, startHttpWorld } from '../http-world.ts';

const MORNING = Date.parse('2026-01-31T08:00:00Z');

describe('attempts per hour', () => {
  let scratch: ScratchDatabase;
  const keys = new KeyRing(KeyRing.generate());
  before(async () => {
    scratch = await openScratchDatabase();
  });
  after(() => scratch.close());

  const counters: Readonly<Record<string, (now: () => number) => AttemptCounter>> = {
    'in memory': (now) => new MemoryAttempts(now),
    'in the database': (now) => new SharedAttempts({ db: scratch.db, keys }, async () => new Date(now())),
  };
  for (const [where, create] of Object.entries(counters)) {
    it(`attempts ${where} count per bucket and become available again with time`, async () => {
      const clock = { ms: MORNING };
      const counter = create(() => clock.ms);
      const take = (name = 'a') => counter.consume([{ name, perHour: 3 }]);
      const waits = [];
      for (let n = 0; n < 4; n++) waits.push(await take());
      assert.deepEqual(waits, [0, 0, 0, 1200]);
      assert.equal(await take('b'), 0);
      clock.ms += HOUR_MS / 3;
      assert.deepEqual([await take(), await take()], [0, 1200]);
    });

    it(`attempts ${where} count nowhere if one bucket is empty, and can be given back`, async () => {
      const counter = create(() => MORNING);
      const [wide, narrow] = [
        { name: 'wide', perHour: 4 },
        { name: 'narrow', perHour: 1 },
      ];
      for (let n = 0; n < 5; n++) {
        assert.equal(await counter.consume([wide, narrow]), 0);
        await counter.refund([wide, narrow]);
      }
      assert.equal(await counter.consume([wide, narrow]), 0);
      for (let n = 0; n < 9; n++) assert.ok((await counter.consume([wide, narrow])) > 0);
      const left = [];
      for (let n = 0; n < 4; n++) left.push(await counter.consume([wide]));
      assert.deepEqual(
        left.map((wait) => wait === 0),
        [true, true, true, false],
      );
    });

    it(`attempts ${where} never exceed the limit in a parallel burst`, async () => {
      const counter = create(() => MORNING);
      const bucket = { name: 'burst', perHour: 30 };
      const waits = await Promise.all(Array.from({ length: 80 }, () => counter.consume([bucket])));
      assert.equal(waits.filter((wait) => wait === 0).length, 30);
    });
  }

  it('attempts never exceed the limit in any burst, at any limit', () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 5000 }), fc.integer({ min: 0, max: 2 ** 41 }), (perHour, now) => {
        const counter = new MemoryAttempts(() => now);
        const waits = Array.from({ length: perHour + 5 }, () => counter.consumeNow([{ name: 'x', perHour }]));
        assert.equal(waits.filter((wait) => wait === 0).length, perHour);
      }),
      { numRuns: PROPERTY_RUNS },
    );
  });

  it('all processes share the attempts in the database, under a key that changes every day', async () => {
    const clock = { ms: Date.parse('2026-02-01T23:59:00Z') };
    const processes = [1, 2].map(() => counters['in the database']?.(() => clock.ms) ?? assert.fail());
    const bucket = { name: 'failures 198.51.100.7', perHour: 2 };
    const take = async () => {
      const waits = [];
      for (const counter of [...processes, ...processes]) waits.push((await counter.consume([bucket])) === 0);
      return waits;
    };
    assert.deepEqual(await take(), [true, true, false, false]);
    const names = () =>
      scratch.db.rows<{ name: string }>(`select encode(name, 'hex') as name from attempt_buckets`);
    const before = (await names()).length;
    clock.ms += 120_000;
    assert.deepEqual(await take(), [true, true, false, false]);
    assert.equal((await names()).length, before + 1);
    assert.ok((await names()).every(({ name }) => name.length === 64));
  });

  it('processes whose machines have different times count the same attempts', async (t) => {
    const processes = [0, 3 * HOUR_MS].map((byMs) => ({
      counter: new SharedAttempts({ db: scratch.db, keys }),
      byMs,
    }));
    const rightTime = Date.now.bind(Date);
    const taken: boolean[] = [];
    for (const { counter, byMs } of [...processes, ...processes, ...processes]) {
      const { mock } = t.mock.method(Date, 'now', () => rightTime() + byMs);
      taken.push((await counter.consume([{ name: 'failures 198.51.100.9', perHour: 2 }])) === 0);
      mock.restore();
    }
    assert.deepEqual(taken, [true, true, false, false, false, false]);
    // Other tests have earlier days.
    await scratch.db.run('delete from attempt_keys');
  });

  it('a bucket of before the clock of the database was set back does not count', async () => {
    const clock = { ms: MORNING };
    const counter = counters['in the database']?.(() => clock.ms) ?? assert.fail();
    const take = async () => (await counter.consume([{ name: 'failures 198.51.100.10', perHour: 2 }])) === 0;
    assert.deepEqual([await take(), await take(), await take()], [true, true, false]);
    clock.ms -= 3 * HOUR_MS;
    assert.deepEqual([await take(), await take(), await take()], [true, true, false]);
  });

  it('the key of a day of attempts needs a random row that no backup has, and that day only', async () => {
    const clock = { ms: Date.parse('2026-03-01T12:00:00Z') };
    const counter = counters['in the database']?.(() => clock.ms) ?? assert.fail();
    const name = 'failures 198.51.100.8';
    const count = async () => await counter.consume([{ name, perHour: 2 }]);
    const stored = async () =>
      await scratch.db.rows<{ ends_at: Date; key: Buffer }>('select ends_at, key from attempt_keys');
    /** Whether someone with the database, the service key, and this material finds the address. */
    const finds = async (material: Buffer | string) => {
      const hash = createHmac('sha256', keys.hmac('attempt buckets', material)).update(name).digest();
      const found = 'select name from attempt_buckets where name = $1';
      return (await scratch.db.row(found, [hash])) !== undefined;
    };
    assert.equal(await count(), 0);
    const [today, ...others] = await stored();
    assert.ok(today && others.length === 0, 'the keys of other days are deleted');
    assert.deepEqual(today.ends_at, new Date('2026-03-02T00:00:00Z'));
    assert.equal(await finds(today.key), true);
    for (const material of ['2026-03-01', '2026-03-02T00:00:00.000Z', ''])
      assert.equal(await finds(material), false, material);
    clock.ms += DAY_MS;
    assert.equal(await count(), 0);
    const [tomorrow, ...rest] = await stored();
    assert.ok(tomorrow && rest.length === 0 && !tomorrow.key.equals(today.key));
    const kinds = await scratch.db.rows(
      `select relpersistence as kind from pg_class where relname in ('attempt_buckets', 'attempt_keys')`,
    );
    assert.deepEqual(kinds, [{ kind: 'u' }, { kind: 'u' }]);
  });

  it('a limit of 0 counts nothing', () => {
    assert.deepEqual(addressBuckets('failures', '192.0.2.1', 0), []);
  });

  it('IPv6 counts by /64, /56, and /48, and IPv4 by address', () => {
    const networks = (address: string) => addressNetworks(address).map(({ network }) => network);
    assert.deepEqual(networks('2001:db8:1:2fe:3:4:5:6'), [
      ...['20010db8000102fe/64', '20010db8000102/56', '20010db80001/48'],
    ]);
    const same = [
      ['2001:db8::1', '2001:db8:0:0:ffff::9'],
      ['2001:0db8:0000:0000::', '2001:db8::5:6:7:8'],
      ['::ffff:192.0.2.7', '192.0.2.7'],
      ['::1', '::2'],
      ['fe80::1%eth0', 'fe80::2'],
    ] as const;
    for (const [one, other] of same) assert.deepEqual(networks(one), networks(other));
    assert.notDeepEqual(networks('192.0.2.7'), networks('192.0.2.8'));
    assert.deepEqual(
      addressBuckets('failures', '2001:db8::1', 30).map(({ perHour }) => perHour),
      [30, 60, 120],
    );
  });
});

describe('limits on visitors', () => {
  let world: HttpWorld;
  before(async () => {
    world = await startHttpWorld({ settings: { signupsPerHour: 4, signinFailuresPerHour: 3 } });
  });
  after(() => world.close());

  it('guessing stops at 429 with Retry-After, and a correct password does not count', async () => {
    const client = await world.customer();
    for (let attempt = 0; attempt < 6; attempt++) assert.equal((await client.signIn()).status, 200);
    const guesses = [
      () => world.visitor().signIn(client.email, 'a wrong guess'),
      () => world.visitor().signIn('nobody@example.org', 'a wrong guess'),
      () => client.signIn('nobody@example.org', 'a wrong guess'),
    ];
    for (const guess of guesses) assert.equal((await guess()).body.error, 'bad_credentials');
    const derivations = world.passwords.derivations;
    const stopped = await world.visitor().signIn(client.email);
    assert.deepEqual([stopped.status, stopped.body.error], [429, 'rate_limited']);
    const retryAfterS = Number(stopped.headers.get('retry-after'));
    assert.ok(retryAfterS > 0 && retryAfterS <= 1200);
    assert.equal(stopped.body.retry_after_s, retryAfterS);
    assert.equal(world.passwords.derivations, derivations, 'a limited attempt derived a password');
  });

  it('sign-ups stop at 429, also for a taken address, and invalid input does not count', async () => {
    const taken = await world.customer();
    for (let attempt = 0; attempt < 6; attempt++) {
      assert.equal((await world.visitor().signUp({ password: 'short' })).body.error, 'weak_password');
    }
    assert.equal((await world.visitor().signUp({ email: taken.email })).body.error, 'email_taken');
    assert.equal((await world.visitor().signUp()).status, 200);
    const answer = await world.visitor().signUp();
    assert.deepEqual([answer.status, answer.body.error], [429, 'rate_limited']);
  });

  it('limits leave no address in the database', async () => {
    const [row] = await world.db.rows<{ text: string }>(
      `select (select string_agg(t::text, ' ') from audit_events t)
           || (select string_agg(t::text, ' ') from sessions t)
           || (select string_agg(t::text, ' ') from customers t) as text`,
    );
    assert.ok(row && !row.text.includes('127.0.0.1'));
  });
});
