import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { after, before, describe, it } from 'node:test';
import type { CustomerActor, ScopedActor } from '../../../src/domain/context.ts';
import { identify } from '../../../src/domain/sessions/identify.ts';
import {
  createToken,
  createTokenByToken,
  listTokens,
  revokeToken,
} from '../../../src/domain/tokens/tokens.ts';
import { formatId, newId, parseId } from '../../../src/kernel/ids.ts';
import { formatRfc3339 } from '../../../src/kernel/time.ts';
import { QUOTAS } from '../../../src/spec/limits.ts';
import type { Scope } from '../../../src/spec/scopes.ts';
import { type HttpWorld, startHttpWorld } from '../../http/http-world.ts';
import { PASSWORD } from '../../support/session-client.ts';

const FORM = { name: 'deploys', scope: 'write', expiresAt: '', currentPassword: PASSWORD };

describe('an API token', () => {
  let world: HttpWorld;
  let actor: CustomerActor;
  before(async () => {
    world = await startHttpWorld();
    actor = await newCustomer();
  });
  after(() => world.close());

  async function newCustomer(): Promise<CustomerActor> {
    const client = await world.customer();
    const { session } = await identify(world.service, client.cookie);
    assert.ok(session);
    return {
      customerId: session.customerId,
      sessionId: session.id,
      tokenId: null,
      requestId: 'req_test',
      ipCountry: 'XX',
    };
  }
  const create = (form: Partial<typeof FORM> = {}, by = actor) =>
    createToken(world.service, by, { ...FORM, ...form });
  const refused = (code: string) => ({ name: 'Failure', code });
  const inSeconds = (seconds: number) =>
    formatRfc3339(new Date(world.clock.now().getTime() + seconds * 1_000));

  it('a token is shown once and stored as its SHA-256 digest', async () => {
    const { token, plaintext } = await create();
    assert.match(plaintext, /^skerry_live_[a-z2-7]{52}$/);
    const rows = await world.db.rows<{ digest: Buffer; text: string }>(
      'select digest, t::text as text from api_tokens t where customer_id = $1',
      [actor.customerId],
    );
    assert.deepEqual(
      rows.map((row) => row.digest),
      [createHash('sha256').update(plaintext).digest()],
    );
    assert.ok(!rows[0]?.text.includes(plaintext));
    assert.deepEqual(await listTokens(world.service, actor), [token]);
    assert.equal(token.last_used_at, null);
    assert.equal(token.expires_at, null);
  });

  it('creating and revoking a token records complete events without its plaintext', async () => {
    const by = await newCustomer();
    const { token, plaintext } = await create({ scope: 'billing' }, by);
    await revokeToken(world.service, by, token.id);
    const events = await world.db.rows<{ type: string; data: object }>(
      'select type, data from events where customer_id = $1 order by created_at, type',
      [by.customerId],
    );
    assert.deepEqual(events, [
      { type: 'token.created', data: { api_token: token } },
      { type: 'token.revoked', data: { api_token: token } },
    ]);
    assert.ok(!JSON.stringify(events).includes(plaintext));
    assert.deepEqual(await listTokens(world.service, by), []);
  });

  it('a token name has 1 to 63 printable characters', async () => {
    for (const name of ['', ' ', 'x'.repeat(64), 'a\nb', 'a\u0000b', 'a\u202eb', 'a\u2028b']) {
      await assert.rejects(create({ name }), refused('bad_name'), JSON.stringify(name));
    }
    assert.equal((await create({ name: 'ключ №1 🦭' })).token.name, 'ключ №1 🦭');
    assert.equal((await create({ name: '🦭'.repeat(63) })).token.name.length, 126);
  });

  it('a token has one of three scopes', async () => {
    for (const scope of ['', 'admin', 'READ', 'read,write', '__proto__']) {
      await assert.rejects(create({ scope }), refused('bad_scope'));
    }
  });

  it('a token must expire in the future, with 30 seconds of tolerance', async () => {
    for (const expiresAt of [
      'soon',
      '2030-02-30T00:00:00Z',
      '2030-01-01',
      inSeconds(-32),
      '9999-12-31T23:59:59-01:00',
    ]) {
      await assert.rejects(create({ expiresAt }), refused('bad_expiry'), expiresAt);
    }
    const justPast = inSeconds(-25);
    assert.equal((await create({ expiresAt: justPast })).token.expires_at, justPast);
    const { token } = await create({ expiresAt: '2038-01-19T04:14:07.9+01:00' });
    assert.equal(token.expires_at, '2038-01-19T03:14:07Z');
  });

  it('creating a token requires the password', async () => {
    const before = await listTokens(world.service, actor);
    await assert.rejects(create({ currentPassword: 'not the password' }), refused('bad_credentials'));
    await assert.rejects(create({ currentPassword: '' }), refused('bad_credentials'));
    assert.deepEqual(await listTokens(world.service, actor), before);
  });

  it('a customer has at most 50 tokens, even with concurrent requests', async () => {
    const by = await newCustomer();
    await world.db.run(
      `insert into api_tokens (id, customer_id, name, scope, digest, created_at)
       select gen_random_uuid(), $1, 'x', 'read', sha256(gen_random_uuid()::text::bytea), now()
         from generate_series(1, $2::int) i`,
      [by.customerId, QUOTAS.tokens - 3],
    );
    const tries = await Promise.allSettled(Array.from({ length: 6 }, () => create({}, by)));
    assert.equal(tries.filter((one) => one.status === 'fulfilled').length, 3);
    await assert.rejects(create({}, by), { code: 'limit_reached', extras: { limit: 50, used: 50 } });
  });

  it('another customer’s token is not found, like an unknown one', async () => {
    const { token } = await create({}, await newCustomer());
    const unknown = formatId('token', newId(new Date()));
    for (const id of [token.id, unknown, 'tok_', 'srv_x', '', `${token.id}a`]) {
      await assert.rejects(revokeToken(world.service, actor, id), refused('not_found'));
    }
  });

  it('revoking a token deletes its buckets, and creating one deletes expired buckets', async () => {
    const by = await newCustomer();
    const [revoked, expiring] = [await create({}, by), await create({ expiresAt: inSeconds(60) }, by)];
    const other = await create({}, await newCustomer());
    const owners = async () => {
      const rows = await world.db.rows<{ token_id: string }>('select token_id from rate_buckets');
      return rows.map((row) => formatId('token', row.token_id)).sort();
    };
    await world.db.run(
      `insert into rate_buckets select id, bucket, now()
         from api_tokens, unnest(array['general', 'provision']) bucket
        where id = any($1)`,
      [[revoked, expiring, other].map(({ token }) => parseId('token', token.id))],
    );
    await revokeToken(world.service, by, revoked.token.id);
    const twice = (...tokens: (typeof revoked)[]) =>
      tokens.flatMap(({ token }) => [token.id, token.id]).sort();
    assert.deepEqual(await owners(), twice(expiring, other));
    await create({}, by);
    assert.deepEqual(await owners(), twice(expiring, other));
    world.clock.offsetMs = 61_000;
    await create({}, by);
    assert.deepEqual(await owners(), twice(other));
  });

  const asToken = (by: CustomerActor, shown: string, scope: Scope = 'billing'): ScopedActor => ({
    ...by,
    ...{ scope, sessionId: null, tokenId: parseId('token', shown) ?? assert.fail() },
  });
  const createByToken = (by: ScopedActor, form: { scope?: Scope; expires_at?: string } = {}) =>
    createTokenByToken(world.service, by, { name: 'child', scope: 'read', ...form });

  it('a token that an expiring token creates expires no later', async () => {
    const by = await newCustomer();
    const { token } = await create({ expiresAt: inSeconds(3_600) }, by);
    const parent = asToken(by, token.id);
    const expiries = [];
    const soon = inSeconds(60);
    for (const form of [{}, { expires_at: inSeconds(7_200) }, { expires_at: soon }]) {
      const child = await createByToken(parent, form);
      assert.equal(child.created_by_token, token.id);
      expiries.push(child.expires_at);
    }
    assert.deepEqual(expiries, [token.expires_at, token.expires_at, soon]);
  });

  it('revoking a token revokes what it created, directly or not, each with an event', async () => {
    const by = await newCustomer();
    const [parent, other] = [await create({ scope: 'billing' }, by), await create({}, by)];
    const child = await createByToken(asToken(by, parent.token.id), { scope: 'write' });
    const grandchild = await createByToken(asToken(by, child.id));
    await revokeToken(world.service, by, parent.token.id);
    assert.deepEqual(await listTokens(world.service, by), [other.token]);
    const events = await world.db.rows<{ id: string }>(
      `select data->'api_token'->>'id' as id from events where customer_id = $1 and type = 'token.revoked'
        order by place`,
      [by.customerId],
    );
    assert.deepEqual(
      events.map(({ id }) => id),
      [parent.token.id, child.id, grandchild.id],
    );
  });

  it('a token that revokes its creator stands alone, and only that token', async () => {
    const by = await newCustomer();
    const { token } = await create({ scope: 'billing', expiresAt: inSeconds(3_600) }, by);
    const next = await createByToken(asToken(by, token.id), { scope: 'billing' });
    await createByToken(asToken(by, token.id));
    const kept = await createByToken(asToken(by, next.id));
    await revokeToken(world.service, asToken(by, next.id), token.id);
    const left = (await listTokens(world.service, by)).map(({ id, created_by_token, expires_at }) => [
      ...[id, created_by_token, expires_at],
    ]);
    assert.deepEqual(left, [
      [kept.id, next.id, token.expires_at],
      [next.id, null, token.expires_at],
    ]);
  });

  it('no token outlives a creator that is revoked while it creates', async () => {
    for (let round = 0; round < 5; round++) {
      const by = await newCustomer();
      const { token } = await create({ scope: 'billing' }, by);
      const parent = asToken(by, token.id);
      const creating = Array.from({ length: 6 }, () => createByToken(parent));
      await Promise.allSettled([...creating, revokeToken(world.service, by, token.id)]);
      assert.deepEqual(await listTokens(world.service, by), []);
    }
  });

  it('a token is revoked once, even with concurrent requests', async () => {
    const { token } = await create();
    const tries = await Promise.allSettled([1, 2, 3].map(() => revokeToken(world.service, actor, token.id)));
    assert.equal(tries.filter((one) => one.status === 'fulfilled').length, 1);
  });
});
