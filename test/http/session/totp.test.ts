import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { DAY_MS } from '../../../src/kernel/time.ts';
import { LIMITS } from '../../../src/spec/limits.ts';
import { tasksJob } from '../../../src/workers/tasks.ts';
import { lastMailedPath, queuedMails, tokenFromPath } from '../../support/queued-mails.ts';
import { FULL_ONLY } from '../../support/runs.ts';
import { PASSWORD, type SessionClient } from '../../support/session-client.ts';
import { totpAt, wrongTotp } from '../../support/totp.ts';
import { getAccount, postAccountAction, submitMailedLink } from '../account-links.ts';
import { type HttpWorld, startHttpWorld } from '../http-world.ts';

const NEW = 'a completely new password';

describe('the second factor over the form endpoints', () => {
  let world: HttpWorld;
  before(async () => {
    world = await startHttpWorld();
  });
  after(() => world.close());

  const signIn = (client: SessionClient, fields: Record<string, string>) =>
    world.visitor().post('/auth-api.php', {
      ...{ action: 'signin', email: client.email, password: PASSWORD },
      ...fields,
    });

  async function enable(client: SessionClient): Promise<string> {
    const secret = String((await postAccountAction(client, { action: 'enable_totp' })).body.secret);
    const answer = await postAccountAction(client, { action: 'enable_totp', code: totpAt(secret) });
    assert.deepEqual([answer.status, answer.body], [200, { ok: true, enabled: true }]);
    return secret;
  }

  /** Makes all codes up to now valid again. */
  async function aWhileAgo(client: SessionClient): Promise<void> {
    const id = await world.customerId(client);
    await world.db.run('update totp_secrets set last_step = 0 where customer_id = $1', [id]);
  }

  async function resetLink(client: SessionClient): Promise<string> {
    await world.visitor().post('/auth-api.php', { action: 'request_reset', email: client.email });
    await tasksJob(world.service).run();
    return await lastMailedPath(world.service, 'reset_password', client.email);
  }

  it('a second factor needs the password, then a code, and applies at the next sign-in', async () => {
    const client = await world.customer();
    const wrong = await postAccountAction(client, { action: 'enable_totp', current_password: 'not it' });
    assert.deepEqual([wrong.status, wrong.body.error], [200, 'bad_credentials']);
    const begun = await postAccountAction(client, { action: 'enable_totp' });
    const secret = String(begun.body.secret);
    assert.deepEqual(Object.keys(begun.body), ['ok', 'secret', 'uri']);
    assert.ok(String(begun.body.uri).startsWith('otpauth://totp/Skerry:'));
    assert.equal((await getAccount(client)).totp, false);
    const bad = await postAccountAction(client, { action: 'enable_totp', code: wrongTotp(secret) });
    assert.deepEqual([bad.status, bad.body.error, bad.body.field], [200, 'bad_code', 'code']);
    await postAccountAction(client, { action: 'enable_totp', code: totpAt(secret) });
    assert.equal((await getAccount(client)).totp, true);
    const again = await postAccountAction(client, { action: 'enable_totp' });
    assert.deepEqual([again.status, again.body.error], [409, 'conflict_state']);

    await aWhileAgo(client);
    const without = await signIn(client, {});
    assert.deepEqual(
      [without.status, without.body.error, without.body.field],
      [400, 'code_required', 'code'],
    );
    const off = await signIn(client, { code: wrongTotp(secret) });
    assert.deepEqual([off.status, off.body.error], [400, 'bad_code']);
    const stranger = await signIn(client, { password: 'not the password', code: totpAt(secret) });
    assert.deepEqual([stranger.status, stranger.body.error], [400, 'bad_credentials']);
    const code = totpAt(secret);
    const inside = await signIn(client, { code: `${code.slice(0, 3)} ${code.slice(3)}` });
    assert.deepEqual([inside.status, inside.body], [200, { ok: true, redirect: '/account' }]);
    assert.equal((await signIn(client, { code })).body.error, 'bad_code');
  });

  it('a second factor is disabled with password and code, and rejections are in the audit log', async () => {
    const client = await world.customer();
    const secret = await enable(client);
    await aWhileAgo(client);
    const off = (fields: Record<string, string>) =>
      postAccountAction(client, { action: 'disable_totp', ...fields });
    const codes = [{ current_password: 'not it' }, {}, { code: wrongTotp(secret) }];
    const answers = [];
    for (const fields of codes) answers.push(await off(fields));
    assert.deepEqual(
      answers.map(({ status, body }) => [status, body.error]),
      [
        [200, 'bad_credentials'],
        [400, 'code_required'],
        [200, 'bad_code'],
      ],
    );
    assert.deepEqual((await off({ code: totpAt(secret) })).body, { ok: true });
    assert.equal((await signIn(client, {})).body.ok, true);
    const audits = (await world.auditLines(client)).filter((line) => line.includes('totp'));
    assert.deepEqual(audits, [
      'customer.begin_totp ok',
      'customer.enable_totp ok',
      ...Array.from({ length: 3 }, () => 'customer.disable_totp error'),
      'customer.disable_totp ok',
    ]);
  });

  it('wrong codes count like wrong passwords, and missing codes do not count', async () => {
    const limited = await startHttpWorld({ settings: { signinFailuresPerHour: 2 } });
    try {
      const client = await limited.customer();
      const enter = (code: string) =>
        limited.visitor().post('/auth-api.php', {
          ...{ action: 'signin', email: client.email, password: PASSWORD, code },
        });
      const secret = String((await postAccountAction(client, { action: 'enable_totp' })).body.secret);
      await postAccountAction(client, { action: 'enable_totp', code: totpAt(secret) });
      const errors: unknown[] = [];
      for (const code of ['', '', '', wrongTotp(secret), wrongTotp(secret), totpAt(secret)]) {
        errors.push((await enter(code)).body.error);
      }
      const missing = Array.from({ length: 3 }, () => 'code_required');
      assert.deepEqual(errors, [...missing, 'bad_code', 'bad_code', 'rate_limited']);
    } finally {
      await limited.close();
    }
  });

  it('the recovery code disables the second factor, and the customer is notified', async () => {
    const client = await world.customer();
    await enable(client);
    const recovered = await world.visitor().post('/auth-api.php', {
      ...{ action: 'recover', email: client.email, recovery_code: client.recoveryCode },
      ...{ password: NEW, password_confirm: NEW },
    });
    assert.equal(recovered.body.ok, true);
    assert.equal((await signIn(client, { password: NEW })).body.ok, true);
    const causes = (await queuedMails(world.service, 'totp_changed', client.email)).map(
      ({ data }) => data.by,
    );
    assert.deepEqual(causes, ['customer', 'recovery_code']);
  });

  it('a reset link requires the second factor, and a rejected code changes nothing', async () => {
    const client = await world.customer();
    const secret = await enable(client);
    await aWhileAgo(client);
    const path = await resetLink(client);
    const browser = world.visitor();
    assert.match((await browser.get(path)).text, /name="code" .*autocomplete="one-time-code"/);
    const passwords = { password: NEW, password_confirm: NEW };
    const missing = await submitMailedLink(browser, path, passwords);
    assert.deepEqual([missing.status, /requires a one-time code/.test(missing.text)], [400, true]);
    const wrong = await submitMailedLink(browser, path, { ...passwords, code: wrongTotp(secret) });
    assert.deepEqual([wrong.status, /incorrect or was already used/.test(wrong.text)], [400, true]);
    const byForm = { action: 'reset', token: tokenFromPath(path), ...passwords };
    assert.equal((await browser.post('/auth-api.php', byForm)).body.error, 'code_required');
    const code = totpAt(secret);
    for (const click of [1, 2]) {
      assert.equal(
        (await submitMailedLink(browser, path, { ...passwords, code })).status,
        200,
        `click ${click}`,
      );
    }
    const other = await submitMailedLink(world.visitor(), path, { ...passwords, code: wrongTotp(secret) });
    assert.equal(other.status, 400, 'the new password alone must not sign in');
    assert.equal((await browser.get('/me.php')).body.email, client.email);
    assert.equal((await getAccount(browser)).totp, true);
  });

  it('wrong codes close a reset link, but neither the account nor the next link', FULL_ONLY, async () => {
    const client = await world.customer();
    const secret = await enable(client);
    const passwords = { password: NEW, password_confirm: NEW };
    const reset = (path: string, code: string) =>
      world
        .visitor()
        .post('/auth-api.php', { action: 'reset', token: tokenFromPath(path), ...passwords, code });
    for (let link = 0; link < LIMITS.totpFailuresPerHour / LIMITS.totpFailuresPerLink; link++) {
      const path = await resetLink(client);
      for (let wrong = 0; wrong < LIMITS.totpFailuresPerLink; wrong++) {
        assert.equal((await reset(path, wrongTotp(secret))).body.error, 'bad_code');
      }
      await aWhileAgo(client);
      const { status, body } = await reset(path, totpAt(secret));
      assert.deepEqual([status, body.error, body.reason], [400, 'bad_link', 'guessed']);
      assert.match(
        (await submitMailedLink(world.visitor(), path, passwords)).text,
        /too many incorrect one-time codes/,
      );
    }
    assert.equal(
      (await signIn(client, { code: totpAt(secret) })).body.ok,
      true,
      'the owner must be able to sign in',
    );
    await aWhileAgo(client);
    const next = await resetLink(client);
    const again = { code: totpAt(secret), current_password: PASSWORD };
    assert.equal((await postAccountAction(client, { action: 'disable_totp', ...again })).body.ok, true);
    assert.equal((await reset(next, '')).body.ok, true);
  });

  it('undoing an address change drops a recent second factor and requires an older one', async () => {
    for (const [ageDays, isDropped] of [
      [6, true],
      [8, false],
    ] as const) {
      const client = await world.customer();
      const secret = await enable(client);
      const former = client.email;
      const days = new Date(world.clock.now().getTime() - ageDays * DAY_MS);
      const id = await world.customerId(client);
      await world.db.run('update totp_secrets set confirmed_at = $2, last_step = 0 where customer_id = $1', [
        id,
        days,
      ]);
      const next = `next-${former}`;
      await postAccountAction(client, { action: 'change_email', email: next });
      await submitMailedLink(client, await lastMailedPath(world.service, 'confirm_address', next));
      const [notice] = await queuedMails(world.service, 'address_changed', former);
      const undo = notice?.data.undo?.path ?? '';
      const passwords = { password: NEW, password_confirm: NEW };
      const first = await submitMailedLink(world.visitor(), undo, passwords);
      assert.equal(first.status, isDropped ? 200 : 400, `${ageDays} days`);
      if (!isDropped) {
        assert.equal(
          (await submitMailedLink(world.visitor(), undo, { ...passwords, code: totpAt(secret) })).status,
          200,
        );
      }
      const entered = await signIn(client, { password: NEW });
      assert.equal(entered.body.error, isDropped ? undefined : 'code_required');
    }
  });

  it('a second factor is deleted with the account', async () => {
    const client = await world.customer();
    await enable(client);
    assert.equal((await postAccountAction(client, { action: 'delete_account' })).body.ok, true);
    assert.equal((await client.signUp()).body.ok, true);
    assert.equal((await getAccount(client)).totp, false);
    assert.equal((await signIn(client, {})).body.ok, true);
  });
});
