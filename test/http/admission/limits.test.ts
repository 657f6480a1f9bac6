import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import fc from 'fast-check';
import { AttemptLimiter, addressNetwork } from '../../../src/http/admission/attempt-limiter.ts';
import { HOUR_MS } from '../../../src/kernel/time.ts';
import { PROPERTY_RUNS } from '../../support/runs.ts';
import { type HttpWorld, startHttpWorld } from '../http-world.ts';

describe('attempts per hour', () => {
  it('attempts count per address and become available again with time', () => {
    let now = 0;
    const limiter = new AttemptLimiter(3, () => now);
    const take = (address = '192.0.2.1') => limiter.consume(address);
    assert.deepEqual([take(), take(), take(), take()], [0, 0, 0, 1200]);
    assert.equal(take('192.0.2.2'), 0);
    now += HOUR_MS / 3;
    assert.deepEqual([take(), take()], [0, 1200]);
  });

  it('attempts that do not count are given back', () => {
    const limiter = new AttemptLimiter(2, () => 0);
    for (let attempt = 0; attempt < 50; attempt++) {
      assert.equal(limiter.consume('192.0.2.1'), 0);
      limiter.refund('192.0.2.1');
    }
  });

  it('attempts never exceed the limit in any burst, at any limit', () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 5000 }), fc.integer({ min: 0, max: 2 ** 41 }), (perHour, now) => {
        const limiter = new AttemptLimiter(perHour, () => now);
        const granted = Array.from({ length: perHour + 5 }, () => limiter.consume('x')).filter(
          (wait) => wait === 0,
        );
        assert.equal(granted.length, perHour);
      }),
      { numRuns: PROPERTY_RUNS },
    );
  });

  it('attempts do not count when the limit is 0', () => {
    const limiter = new AttemptLimiter(0);
    assert.ok(Array.from({ length: 1000 }, () => limiter.consume('192.0.2.1')).every((wait) => wait === 0));
  });

  it('attempts count by /64 for IPv6 and by address for IPv4', () => {
    const same = [
      ['2001:db8::1', '2001:db8:0:0:ffff::9'],
      ['2001:0db8:0000:0000::', '2001:db8::5:6:7:8'],
      ['::ffff:192.0.2.7', '192.0.2.7'],
      ['::1', '::2'],
      ['fe80::1%eth0', 'fe80::2'],
    ] as const;
    for (const [one, other] of same) assert.equal(addressNetwork(one), addressNetwork(other));
    assert.notEqual(addressNetwork('2001:db8:0:1::1'), addressNetwork('2001:db8:0:2::1'));
    assert.notEqual(addressNetwork('192.0.2.7'), addressNetwork('192.0.2.8'));
    assert.equal(addressNetwork('2001:db8:1:2:3:4:5:6'), '2001:db8:1:2');
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
      () => client.signIn(client.email, 'a wrong guess'),
      () => client.signIn('nobody@example.org', 'a wrong guess'),
      () =>
        client.post('/account-api.php', {
          action: 'change_password',
          current_password: 'a wrong guess',
          new_password: 'a fine new password',
        }),
    ];
    for (const guess of guesses) assert.equal((await guess()).body.error, 'bad_credentials');
    const derivations = world.passwords.derivations;
    const stopped = await client.signIn();
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
