import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import fc from 'fast-check';
import { parseEmail } from '../../../src/domain/customers/email/email.ts';
import { changePassword, requireNewPassword } from '../../../src/domain/customers/password.ts';
import { newRecoveryCode, recoverAccount, recoveryDigest } from '../../../src/domain/customers/recovery.ts';
import { signIn, signUp } from '../../../src/domain/customers/sign-in.ts';
import { newVisitorCookie } from '../../../src/domain/sessions/cookie.ts';
import { identify } from '../../../src/domain/sessions/identify.ts';
import type { Visit } from '../../../src/domain/sessions/open.ts';
import { type HttpWorld, startHttpWorld } from '../../http/http-world.ts';
import { FULL_ONLY, PROPERTY_RUNS } from '../../support/runs.ts';
import { PASSWORD } from '../../support/session-client.ts';

describe('an email address', () => {
  for (const good of ['a@b.co', 'A.b+tag@mail.example.org', 'öl@bücher.example', "o'neil@x-y.example"]) {
    it(`${good} is a valid email address`, () => assert.equal(parseEmail(good)?.address, good));
  }

  const long = `${'a'.repeat(64)}@${`${'b'.repeat(60)}.`.repeat(4)}org`;
  const bad = ['', 'a', '@', 'a@', '@b.co', 'a@b', 'a@b..co', 'a@.co', 'a@b.co.', 'a b@c.de', 'a@b@c.de'];
  for (const text of [...bad, '.a@b.co', 'a.@b.co', 'a@-b.co', 'a\r\nb@c.de', '<a@b.co>', '"a"@b.co', long]) {
    it(`${JSON.stringify(text).slice(0, 40)} is not an email address`, () =>
      assert.equal(parseEmail(text), undefined));
  }

  it('an email address ignores case, surrounding blanks, and the composition of accents', () => {
    const key = parseEmail('josé@example.org')?.key;
    assert.equal(parseEmail('  JOSÉ@Example.ORG ')?.key, key);
    assert.equal(parseEmail('jose\u0301@example.org')?.key, key);
  });
});

describe('a password', () => {
  const accepted = (password: string) => {
    try {
      requireNewPassword(password, password);
      return true;
    } catch {
      return false;
    }
  };

  it('a password has 12 to 256 characters, regardless of its bytes or code units', () => {
    assert.deepEqual(
      [11, 12, 256, 257].map((chars) => accepted('x'.repeat(chars))),
      [false, true, true, false],
    );
    assert.deepEqual(
      [11, 12, 256, 257].map((chars) => accepted('🦭'.repeat(chars))),
      [false, true, true, false],
    );
  });

  it('a password and its repetition may be composed differently', () => {
    requireNewPassword('caf\u00e9 au lait!', 'cafe\u0301 au lait!');
  });
});

describe('a recovery code', () => {
  it('a recovery code has 128 bits in groups and ignores case, blanks, and dashes', () => {
    const code = newRecoveryCode();
    assert.match(code.text, /^([a-z2-7]{5}-){4}[a-z2-7]{6}$/);
    const typed = ` ${code.text.toUpperCase().replaceAll('-', ' ')}\n`;
    assert.deepEqual(recoveryDigest(typed), code.digest);
    assert.notDeepEqual(newRecoveryCode().digest, code.digest);
  });
});

describe('a customer', () => {
  let world: HttpWorld;
  before(async () => {
    world = await startHttpWorld();
  });
  after(() => world.close());

  const visit = (): Visit => ({
    visitor: newVisitorCookie(world.service.keys),
    actor: { customerId: null, sessionId: null, tokenId: null, requestId: 'req_test', ipCountry: 'XX' },
  });
  const join = (email: string, password = PASSWORD) =>
    signUp(world.service, visit(), { email, password, passwordConfirm: password });
  const enter = (email: string, password: string) =>
    signIn(world.service, visit(), { email, password, code: '' });
  const refused = (code: string) => ({ name: 'Failure', code });

  async function actorOf(cookie: string) {
    const { session } = await identify(world.service, cookie);
    assert.ok(session);
    return { ...visit().actor, customerId: session.customerId, sessionId: session.id };
  }

  it('concurrent sign-ups with one address create one customer', async () => {
    const spellings = ['race@example.org', 'RACE@example.org', 'Race@Example.Org', 'race@EXAMPLE.org'];
    const tries = await Promise.allSettled(spellings.map((email) => join(email)));
    assert.equal(tries.filter((one) => one.status === 'fulfilled').length, 1);
    for (const one of tries) if (one.status === 'rejected') assert.equal(one.reason.code, 'email_taken');
    const rows = await world.db.rows('select 1 as one from customers where email_key = $1', [
      'race@example.org',
    ]);
    assert.equal(rows.length, 1);
  });

  it('a new customer has a balance of 0, and the database contains no credential in the clear', async () => {
    const { cookie, recoveryCode } = await join('plain@example.org');
    const [row] = await world.db.rows<{ text: string; balance_cents: bigint }>(
      `select c::text || s::text as text, balance_cents from customers c
         join sessions s on s.customer_id = c.id join balances b on b.customer_id = c.id
        where email_key = 'plain@example.org'`,
    );
    assert.equal(row?.balance_cents, 0n);
    for (const secret of [PASSWORD, cookie, recoveryCode, recoveryCode.replaceAll('-', '')]) {
      assert.ok(!row?.text.includes(secret));
    }
  });

  it('any password of the allowed length works', FULL_ONLY, async () => {
    const property = fc.asyncProperty(
      fc
        .string({ unit: 'binary', minLength: 12, maxLength: 60 })
        .filter((text) => [...text.normalize('NFC')].length >= 12),
      async (password) => {
        const email = `any${Math.random().toString(36).slice(2)}@example.org`;
        await join(email, password);
        await enter(email, password.normalize('NFD'));
        await assert.rejects(enter(email, `${password}x`), refused('bad_credentials'));
      },
    );
    await fc.assert(property, { numRuns: Math.ceil(PROPERTY_RUNS / 5) });
  });

  it('a sign-in with the old password during a password change leaves no session', async () => {
    const { cookie } = await join('turn@example.org');
    const actor = await actorOf(cookie);
    const change = { currentPassword: PASSWORD, newPassword: 'quite another password', revokeTokens: false };
    const entering = Array.from({ length: 6 }, () => enter('turn@example.org', PASSWORD));
    const [changed, ...entered] = await Promise.allSettled([
      changePassword(world.service, actor, change),
      ...entering,
    ]);
    assert.equal(changed?.status, 'fulfilled');
    const left = await world.db.rows('select 1 as one from sessions where customer_id = $1', [
      actor.customerId,
    ]);
    assert.equal(left.length, 1);
    assert.ok(entered.length > 0);
  });

  it('a recovery code works once, even when sent concurrently', async () => {
    const { cookie, recoveryCode } = await join('lost@example.org');
    const password = 'found a new password';
    const form = { email: 'lost@example.org', recoveryCode, password, passwordConfirm: password };
    const tries = await Promise.allSettled([1, 2, 3].map(() => recoverAccount(world.service, visit(), form)));
    const won = tries.filter((one) => one.status === 'fulfilled');
    assert.equal(won.length, 1);
    assert.equal((await identify(world.service, cookie)).session, null);
    assert.ok((await identify(world.service, won[0]?.value.cookie)).session);
    const next = { ...form, recoveryCode: won[0]?.value.recoveryCode ?? '' };
    await recoverAccount(world.service, visit(), next);
  });

  it('a frozen customer cannot recover, and only the correct code reveals the freeze', async () => {
    const { recoveryCode } = await join('ice@example.org');
    await world.db.run(`update customers set frozen_at = now() where email_key = 'ice@example.org'`);
    const form = { email: 'ice@example.org', password: PASSWORD, passwordConfirm: PASSWORD };
    await assert.rejects(
      recoverAccount(world.service, visit(), { ...form, recoveryCode }),
      refused('account_frozen'),
    );
    const wrong = newRecoveryCode().text;
    await assert.rejects(
      recoverAccount(world.service, visit(), { ...form, recoveryCode: wrong }),
      refused('bad_credentials'),
    );
  });

  it('an unknown address takes the same work as an incorrect password', async () => {
    await join('work@example.org');
    const work = async (act: () => Promise<unknown>) => {
      const before = world.passwords.derivations;
      await assert.rejects(act(), refused('bad_credentials'));
      return world.passwords.derivations - before;
    };
    assert.equal(await work(() => enter('work@example.org', 'not the password')), 1);
    assert.equal(await work(() => enter('nobody@example.org', 'not the password')), 1);
    assert.equal(await work(() => enter('no address at all', 'not the password')), 1);
    const form = { password: PASSWORD, passwordConfirm: PASSWORD, recoveryCode: 'wrong' };
    assert.equal(
      await work(() => recoverAccount(world.service, visit(), { ...form, email: 'work@example.org' })),
      0,
    );
    assert.equal(
      await work(() => recoverAccount(world.service, visit(), { ...form, email: 'nobody@example.org' })),
      0,
    );
  });
});
