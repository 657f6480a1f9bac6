import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { signIn, signUp } from '../../../src/domain/customers/sign-in.ts';
import {
  confirmTotp,
  disableTotp,
  disableTotpByOperator,
  startTotp,
} from '../../../src/domain/customers/totp.ts';
import { codeForStep, findStep, secretUri, stepAt } from '../../../src/domain/customers/totp-check.ts';
import { newVisitorCookie } from '../../../src/domain/sessions/cookie.ts';
import type { Visit } from '../../../src/domain/sessions/open.ts';
import { HOUR_MS, MINUTE_MS } from '../../../src/kernel/time.ts';
import { qrCode } from '../../../src/panel/money/qr.ts';
import { LIMITS } from '../../../src/spec/limits.ts';
import { dumpDatabase } from '../../support/canaries.ts';
import { queuedMails } from '../../support/queued-mails.ts';
import { FULL_ONLY } from '../../support/runs.ts';
import { PASSWORD } from '../../support/session-client.ts';
import { startTestService, type TestService } from '../../support/test-service.ts';
import { STEP_MS, totpAt, wrongTotp } from '../../support/totp.ts';

/** RFC 6238, appendix B: seconds and the eight-digit code. Our codes are the last six digits. */
const VECTORS: readonly (readonly [seconds: number, digits: string])[] = [
  [59, '94287082'],
  [1_111_111_109, '07081804'],
  [1_111_111_111, '14050471'],
  [1_234_567_890, '89005924'],
  [2_000_000_000, '69279037'],
  [20_000_000_000, '65353130'],
];
/** `12345678901234567890` in base32. */
const RFC_SECRET = 'GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ';
/** The start of a step. */
const NOON_MS = Date.parse('2026-03-01T12:00:00Z');

describe('a one-time code', () => {
  it('a one-time code matches RFC 6238', () => {
    for (const [seconds, digits] of VECTORS) {
      assert.equal(codeForStep(RFC_SECRET, stepAt(seconds * 1_000)), digits.slice(2));
    }
  });

  it('a one-time code may be 30 seconds early or late and must be newer than the last one', () => {
    const step = stepAt(NOON_MS);
    const found = (late: number, after = 0) =>
      findStep(RFC_SECRET, codeForStep(RFC_SECRET, step), { atMs: NOON_MS + late * STEP_MS, after });
    assert.deepEqual(
      [-2, -1, 0, 1, 2].map((late) => found(late)),
      [undefined, step, step, step, undefined],
    );
    assert.deepEqual([found(0, step - 1), found(0, step)], [step, undefined]);
  });

  it('a one-time code may be typed in groups', () => {
    const code = codeForStep(RFC_SECRET, stepAt(NOON_MS));
    for (const typed of [` ${code.slice(0, 3)} ${code.slice(3)}\n`, [...code].join('-'), `${code}\u00a0`]) {
      assert.equal(findStep(RFC_SECRET, typed, { atMs: NOON_MS, after: 0 }), stepAt(NOON_MS), typed);
    }
    for (const typed of ['', code.slice(1), `${code}0`, `${code.slice(1)}x`]) {
      assert.equal(findStep(RFC_SECRET, typed, { atMs: NOON_MS, after: 0 }), undefined, typed);
    }
  });

  it('the URI of a secret can be read by authenticators', () => {
    const email = 'ann+a:b@example.org';
    const uri = new URL(secretUri(RFC_SECRET, { siteName: 'Rock & Sea', email }));
    assert.equal(uri.href.split('?')[0], 'otpauth://totp/Rock%20%26%20Sea:ann%2Ba%3Ab%40example.org');
    assert.deepEqual(Object.fromEntries(uri.searchParams), {
      ...{ issuer: 'Rock & Sea', secret: RFC_SECRET, algorithm: 'SHA1', digits: '6', period: '30' },
    });
  });

  it('the URI of a secret fits into a QR code and has no colon in its issuer, for any site name', () => {
    const email = `${'a'.repeat(64)}@${'b.'.repeat(93)}org`;
    for (const [siteName, issuer] of [
      ['Servers: fast', 'Servers  fast'],
      ['岩礁'.repeat(20), '岩礁'.repeat(3)],
      ['x'.repeat(300), 'x'.repeat(60)],
    ] as const) {
      const uri = secretUri(RFC_SECRET, { siteName, email });
      assert.equal(new URL(uri).searchParams.get('issuer'), issuer);
      assert.ok(qrCode(uri).sidePx > 0);
    }
  });
});

describe('a second factor', () => {
  let world: TestService;
  before(async () => {
    world = await startTestService();
  });
  after(() => world.close());

  const visit = (): Visit => ({
    visitor: newVisitorCookie(world.service.keys),
    actor: { customerId: null, sessionId: null, tokenId: null, requestId: 'req_test', ipCountry: 'IS' },
  });
  const refused = (code: string) => ({ name: 'Failure', code });
  let count = 0;

  async function customer() {
    count += 1;
    const email = `c${count}@example.org`;
    await signUp(world.service, visit(), { email, password: PASSWORD, passwordConfirm: PASSWORD });
    const row = await world.db.row<{ id: string }>('select id from customers where email = $1', [email]);
    return { email, actor: { ...visit().actor, customerId: row?.id ?? '' } };
  }

  /** Creates a customer with one-time codes on since noon, confirmed with the code of noon. */
  async function withTotp() {
    const { email, actor } = await customer();
    const { secret } = await startTotp(world.service, actor, { currentPassword: PASSWORD });
    await confirmTotp(world.service, actor, { code: totpAt(secret, NOON_MS) }, NOON_MS);
    const enter = (code: string, atMs: number, password = PASSWORD) =>
      signIn(world.service, visit(), { email, password, code }, atMs);
    const off = (code: string, atMs: number, currentPassword = PASSWORD) =>
      disableTotp(world.service, actor, { currentPassword, code }, atMs);
    return { email, actor, secret, enter, off };
  }

  const audits = async (customerId: string) => {
    const rows = await world.db.rows<{ action: string }>(
      "select action from audit_events where customer_id = $1 and action like '%totp' order by " +
        'created_at, ctid',
      [customerId],
    );
    return rows.map(({ action }) => action.replace('customer.', ''));
  };

  it('a second factor is not required until a first code confirms it, and can be restarted', async () => {
    const { email, actor } = await customer();
    const begin = (currentPassword = PASSWORD) => startTotp(world.service, actor, { currentPassword });
    const confirm = (code: string) => confirmTotp(world.service, actor, { code }, NOON_MS);
    await assert.rejects(confirm('123456'), refused('conflict_state'));
    await assert.rejects(begin('not the password'), refused('bad_credentials'));
    const first = await begin();
    assert.match(first.secret, /^[A-Z2-7]{32}$/);
    const { siteName } = world.service.settings;
    assert.equal(first.uri, secretUri(first.secret, { siteName, email }));
    await signIn(world.service, visit(), { email, password: PASSWORD, code: '' });
    const second = await begin();
    assert.notEqual(second.secret, first.secret);
    await assert.rejects(confirm(totpAt(first.secret, NOON_MS)), refused('bad_code'));
    await confirm(totpAt(second.secret, NOON_MS));
    await assert.rejects(
      signIn(world.service, visit(), { email, password: PASSWORD, code: '' }),
      refused('code_required'),
    );
    assert.deepEqual(await audits(actor.customerId), ['begin_totp', 'begin_totp', 'enable_totp']);
  });

  it('an unconfirmed second factor expires after an hour', async () => {
    const { actor } = await customer();
    const { secret } = await startTotp(world.service, actor, { currentPassword: PASSWORD });
    const begunAt = world.clock.now();
    world.clock.moveTo(new Date(begunAt.getTime() + LIMITS.totpEnrollmentMinutes * MINUTE_MS));
    const late = confirmTotp(world.service, actor, { code: totpAt(secret, NOON_MS) }, NOON_MS);
    await assert.rejects(late, refused('conflict_state'));
  });

  it('an active second factor cannot be restarted, and its confirmation may be sent twice', async () => {
    const { actor, secret, email } = await withTotp();
    await assert.rejects(
      startTotp(world.service, actor, { currentPassword: PASSWORD }),
      refused('conflict_state'),
    );
    await confirmTotp(world.service, actor, { code: totpAt(secret, NOON_MS) }, NOON_MS + 5 * STEP_MS);
    const other = confirmTotp(world.service, actor, { code: totpAt(secret, NOON_MS + STEP_MS) }, NOON_MS);
    await assert.rejects(other, refused('conflict_state'));
    assert.deepEqual(await audits(actor.customerId), ['begin_totp', 'enable_totp']);
    assert.equal((await queuedMails(world.service, 'totp_changed', email)).length, 1);
  });

  it('each code is accepted once, even concurrently, and older codes are not', async () => {
    const { secret, enter } = await withTotp();
    const later = NOON_MS + 3 * STEP_MS;
    await assert.rejects(
      enter(totpAt(secret, NOON_MS), NOON_MS),
      refused('bad_code'),
      'this code turned it on',
    );
    const tries = await Promise.allSettled(
      Array.from({ length: 4 }, () => enter(totpAt(secret, later), later)),
    );
    assert.deepEqual(tries.map(({ status }) => status).sort(), [
      'fulfilled',
      'rejected',
      'rejected',
      'rejected',
    ]);
    for (const one of tries) if (one.status === 'rejected') assert.equal(one.reason.code, 'bad_code');
    await assert.rejects(enter(totpAt(secret, later - STEP_MS), later), refused('bad_code'));
    await enter(totpAt(secret, later + STEP_MS), later);
  });

  it('the second factor is not revealed before the password is correct', async () => {
    const { secret, enter } = await withTotp();
    const later = NOON_MS + 2 * STEP_MS;
    for (const code of ['', wrongTotp(secret, later), totpAt(secret, later)]) {
      await assert.rejects(enter(code, later, 'not the password'), refused('bad_credentials'));
    }
    await assert.rejects(enter(' ', later), refused('code_required'));
    await enter(totpAt(secret, later), later);
  });

  it('ten incorrect codes within an hour block even a correct one', FULL_ONLY, async () => {
    const { secret, enter, off } = await withTotp();
    const at = (minutes: number) => NOON_MS + minutes * MINUTE_MS;
    for (let wrong = 0; wrong < LIMITS.totpFailuresPerHour; wrong++) {
      await assert.rejects(enter(wrongTotp(secret, at(wrong)), at(wrong)), refused('bad_code'));
    }
    await assert.rejects(enter('', at(20)), refused('code_required'));
    await assert.rejects(off(totpAt(secret, at(20)), at(20)), refused('rate_limited'));
    await assert.rejects(enter(totpAt(secret, at(20)), at(20)), {
      ...refused('rate_limited'),
      extras: { retry_after_s: 40 * 60 },
    });
    const hourLater = NOON_MS + HOUR_MS;
    await assert.rejects(enter(wrongTotp(secret, hourLater), hourLater), refused('bad_code'));
    await enter(totpAt(secret, hourLater), hourLater);
  });

  it('a second factor is turned off with password and code, and stays off', async () => {
    const { email, actor, secret, off } = await withTotp();
    const later = NOON_MS + 2 * STEP_MS;
    await assert.rejects(off(totpAt(secret, later), later, 'not the password'), refused('bad_credentials'));
    await assert.rejects(off('', later), refused('code_required'));
    await assert.rejects(off(wrongTotp(secret, later), later), refused('bad_code'));
    await off(totpAt(secret, later), later);
    await off('', later);
    await signIn(world.service, visit(), { email, password: PASSWORD, code: '' });
    assert.deepEqual((await audits(actor.customerId)).slice(-2), ['disable_totp', 'disable_totp']);
    const mails = await queuedMails(world.service, 'totp_changed', email);
    assert.deepEqual(
      mails.map(({ to, data }) => [to, data.on, data.by, data.country]),
      [
        [email, true, 'customer', 'IS'],
        [email, false, 'customer', 'IS'],
      ],
    );
  });

  it('the operator can turn off a second factor, once', async () => {
    const { email, actor } = await withTotp();
    assert.deepEqual(
      [await disableTotpByOperator(world.service, email), await disableTotpByOperator(world.service, email)],
      [true, false],
    );
    assert.deepEqual((await audits(actor.customerId)).slice(-1), ['disable_totp']);
    const mailData = (await queuedMails(world.service, 'totp_changed', email)).at(-1)?.data;
    assert.deepEqual([mailData?.on, mailData?.by], [false, 'operator']);
  });

  it('the database never contains a secret in the clear, confirmed or not', async () => {
    const { secret: inUse } = await withTotp();
    const { actor } = await customer();
    const { secret: begun } = await startTotp(world.service, actor, { currentPassword: PASSWORD });
    const text = (await dumpDatabase(world.db)).toLowerCase();
    for (const secret of [inUse, begun]) assert.ok(!text.includes(secret.toLowerCase()));
  });
});
