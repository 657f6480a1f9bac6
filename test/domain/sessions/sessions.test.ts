import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { after, before, describe, it } from 'node:test';
import {
  computeCsrfToken,
  newSessionCookie,
  newVisitorCookie,
  readCookie,
} from '../../../src/domain/sessions/cookie.ts';
import { identify } from '../../../src/domain/sessions/identify.ts';
import { KeyRing } from '../../../src/kernel/secrets.ts';
import { DAY_MS, HOUR_MS, SECOND_MS } from '../../../src/kernel/time.ts';
import { LIMITS } from '../../../src/spec/limits.ts';
import { type HttpWorld, startHttpWorld } from '../../http/http-world.ts';

const key = (id: string) => `${id}:${randomBytes(32).toString('base64')}`;

describe('a session cookie', () => {
  const keys = new KeyRing(key('k1'));

  it('the CSRF token has 64 hex characters and survives sign-in and sign-out', () => {
    const visitor = newVisitorCookie(keys);
    const value = computeCsrfToken(keys, visitor);
    assert.match(value, /^[0-9a-f]{64}$/);
    const session = newSessionCookie(visitor).text;
    assert.equal(readCookie(keys, session)?.visitor, visitor);
    assert.equal(computeCsrfToken(keys, readCookie(keys, session)?.visitor ?? ''), value);
    assert.notEqual(computeCsrfToken(keys, newVisitorCookie(keys)), value);
  });

  it('a cookie without our signature is ignored', () => {
    const visitor = newVisitorCookie(keys);
    const other = newVisitorCookie(new KeyRing(key('k1')));
    const [keyId, seed, mac] = visitor.split('.');
    const tampered = `${keyId}.${'A'.repeat(43)}.${mac}`;
    for (const text of [
      undefined,
      '',
      'abc',
      other,
      tampered,
      `${keyId}.${seed}`,
      `${visitor}.x`,
      `x${visitor}`,
    ]) {
      assert.equal(readCookie(keys, text), undefined);
    }
  });

  it('a cookie from before a key rotation is valid until its key is removed', () => {
    const old = key('k1');
    const before = new KeyRing(old);
    const visitor = newVisitorCookie(before);
    const rotated = new KeyRing(`${key('k2')},${old}`);
    assert.ok(readCookie(rotated, visitor));
    assert.equal(computeCsrfToken(rotated, visitor), computeCsrfToken(before, visitor));
    assert.equal(readCookie(new KeyRing(key('k2')), visitor), undefined);
  });
});

describe('a session', () => {
  let world: HttpWorld;
  before(async () => {
    world = await startHttpWorld();
  });
  after(() => world.close());

  const signedIn = async (cookie: string | undefined) =>
    (await identify(world.service, cookie)).session !== null;
  const pass = (ms: number) => {
    world.clock.offsetMs += ms;
  };

  it('a session ends after 24 hours without use, and its visitor stays known', async () => {
    const client = await world.customer();
    pass(24 * HOUR_MS - 5 * SECOND_MS);
    assert.equal(await signedIn(client.cookie), true);
    pass(24 * HOUR_MS);
    assert.equal(await signedIn(client.cookie), false);
    assert.notEqual((await identify(world.service, client.cookie)).visitor, null);
  });

  it('a session ends after 30 days, even if used', async () => {
    const client = await world.customer();
    for (let halfDay = 1; halfDay < 60; halfDay++) {
      pass(DAY_MS / 2);
      assert.equal(await signedIn(client.cookie), true, `after ${halfDay / 2} days`);
    }
    pass(DAY_MS / 2);
    assert.equal(await signedIn(client.cookie), false);
  });

  it('a session is written at most once a minute', async () => {
    const client = await world.customer();
    const { session } = await identify(world.service, client.cookie);
    const seenAt = async () => {
      const row = await world.db.row<{ seen_at: Date }>('select seen_at from sessions where id = $1', [
        session?.id,
      ]);
      return row?.seen_at.getTime();
    };
    const first = await seenAt();
    pass(50 * SECOND_MS);
    await identify(world.service, client.cookie);
    assert.equal(await seenAt(), first);
    pass(11 * SECOND_MS);
    await identify(world.service, client.cookie);
    assert.notEqual(await seenAt(), first);
  });

  it('too many sessions remove expired ones first, then the oldest', async () => {
    const first = await world.customer();
    const id = await world.customerId(first);
    const count = async () =>
      (await world.db.rows('select 1 as one from sessions where customer_id = $1', [id])).length;
    const insert = `insert into sessions (digest, id, customer_id, created_at, seen_at)
      select sha256(i::text::bytea), gen_random_uuid(), $1, $2, $2 from generate_series(1, $3::int) i`;
    await world.db.run(insert, [id, new Date(world.clock.now().getTime() - 2 * DAY_MS), 10]);
    pass(SECOND_MS);
    const second = world.visitor();
    await second.signIn(first.email);
    assert.equal(await count(), 2);
    await world.db.run(insert, [id, world.clock.now(), LIMITS.sessionsMax - 2]);
    pass(SECOND_MS);
    const third = world.visitor();
    await third.signIn(first.email);
    assert.equal(await count(), LIMITS.sessionsMax);
    assert.equal(await signedIn(first.cookie), false);
    assert.equal(await signedIn(second.cookie), true);
    assert.equal(await signedIn(third.cookie), true);
  });

  it('a visitor costs no row before signing in', async () => {
    const count = async () => (await world.db.rows('select 1 as one from sessions')).length;
    const before = await count();
    await Promise.all(Array.from({ length: 20 }, () => world.visitor().fetchCsrf()));
    assert.equal(await count(), before);
  });
});
