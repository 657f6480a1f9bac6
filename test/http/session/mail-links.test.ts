import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { DAY_MS, HOUR_MS } from '../../../src/kernel/time.ts';
import { LIMITS } from '../../../src/spec/limits.ts';
import { tasksJob } from '../../../src/workers/tasks.ts';
import { PanelClient, problemOf } from '../../support/panel-client.ts';
import { lastMailedPath, queuedMails, tokenFromPath } from '../../support/queued-mails.ts';
import { PASSWORD, type SessionClient, type SessionResponse } from '../../support/session-client.ts';
import { getAccount, postAccountAction, submitMailedLink } from '../account-links.ts';
import { type HttpWorld, startHttpWorld } from '../http-world.ts';

const NEW = 'a completely new password';

describe('links in mails', () => {
  let world: HttpWorld;
  before(async () => {
    world = await startHttpWorld();
  });
  after(() => world.close());

  const later = (ms: number) => {
    world.clock.offsetMs += ms;
  };
  const confirmPath = (address: string) => lastMailedPath(world.service, 'confirm_address', address);
  const resetPath = (address: string) => lastMailedPath(world.service, 'reset_password', address);

  async function askReset(email: string): Promise<SessionResponse> {
    const answer = await world.visitor().post('/auth-api.php', { action: 'request_reset', email });
    await tasksJob(world.service).run();
    return answer;
  }

  const reset = (client: SessionClient, path: string, password = NEW) =>
    client.post('/auth-api.php', {
      action: 'reset',
      token: tokenFromPath(path),
      password,
      password_confirm: password,
    });

  it('a sign-up link confirms the address when its form is submitted, not when opened', async () => {
    const client = await world.customer();
    const path = await confirmPath(client.email);
    const page = await world.visitor().get(path);
    assert.equal(page.status, 200);
    assert.ok(page.text.includes(client.email) && !/<script>|\son\w+=/.test(page.text));
    assert.equal((await getAccount(client)).email_confirmed, false);
    for (const browser of [world.visitor(), world.visitor(), client]) {
      const answer = await submitMailedLink(browser, path);
      assert.equal(answer.status, 200, 'a second click gets the same response');
      assert.match(answer.text, /Email address confirmed/);
    }
    assert.equal((await getAccount(client)).email_confirmed, true);
    const audits = (await world.auditLines(client)).filter((line) => line.includes('confirm_address'));
    assert.deepEqual(audits, ['customer.confirm_address ok']);
  });

  it('no link is stored in readable form', async () => {
    const client = await world.customer();
    const token = tokenFromPath(await confirmPath(client.email));
    for (const table of ['mails', 'mail_links', 'reset_requests']) {
      const rows = await world.db.rows<{ line: string }>(`select t::text as line from ${table} t`);
      assert.ok(!rows.some(({ line }) => line.includes(token)), table);
    }
  });

  it('a confirmation link lasts three days, and a few more per hour can be requested', async () => {
    const client = await world.customer();
    const old = await confirmPath(client.email);
    for (let sent = 1; sent < LIMITS.linkMailsPerHour; sent++) {
      assert.equal((await postAccountAction(client, { action: 'resend_confirmation' })).body.mailed, true);
    }
    const refused = await postAccountAction(client, { action: 'resend_confirmation' });
    assert.deepEqual([refused.status, refused.body.error], [429, 'rate_limited']);
    assert.ok(Number(refused.body.retry_after_s) > 0);
    later(3 * DAY_MS);
    await client.signIn();
    const over = await submitMailedLink(world.visitor(), old);
    assert.equal(over.status, 400);
    assert.match(over.text, /has expired/);
    await postAccountAction(client, { action: 'resend_confirmation' });
    assert.equal((await submitMailedLink(world.visitor(), await confirmPath(client.email))).status, 200);
    assert.equal((await postAccountAction(client, { action: 'resend_confirmation' })).body.mailed, false);
  });

  it('a reset request gets one response for any address, and only an account gets a mail', async () => {
    const { email } = await world.customer();
    const unused = 'nobody@example.org';
    const [known, unknown] = [await askReset(email), await askReset(unused)];
    assert.deepEqual([known.status, known.text], [200, unknown.text]);
    assert.deepEqual(known.body, { ok: true });
    assert.equal((await queuedMails(world.service, 'reset_password', email)).length, 1);
    assert.equal((await queuedMails(world.service, 'reset_password', unused)).length, 0);
    for (let sent = 0; sent < 10; sent++) assert.deepEqual((await askReset(email)).body, { ok: true });
    // The mail from the sign-up also counts.
    assert.equal(
      (await queuedMails(world.service, 'reset_password', email)).length,
      LIMITS.linkMailsPerHour - 1,
    );
    const bad = await askReset('nonsense');
    assert.deepEqual([bad.status, bad.body.error], [400, 'bad_email']);
    const left = await world.db.rows('select from reset_requests');
    assert.equal(left.length, 0);
  });

  it('a reset sets the password, ends all sessions, signs in, and keeps the recovery code', async () => {
    const client = await world.customer();
    await askReset(client.email);
    const path = await resetPath(client.email);
    const browser = world.visitor();
    const weak = await reset(browser, path, 'short');
    assert.deepEqual([weak.status, weak.body.error], [400, 'weak_password']);
    assert.deepEqual((await reset(browser, path)).body, { ok: true, redirect: '/account' });
    assert.equal((await browser.get('/me.php')).body.email, client.email);
    assert.equal((await client.get('/me.php')).body.logged_in, false);
    assert.equal((await client.signIn()).body.error, 'bad_credentials');
    assert.equal((await client.signIn(client.email, NEW)).body.ok, true);
    assert.equal((await getAccount(client)).email_confirmed, true, 'the link also confirms the address');
    const recovered = await client.post('/auth-api.php', {
      action: 'recover',
      email: client.email,
      recovery_code: client.recoveryCode,
      password: PASSWORD,
      password_confirm: PASSWORD,
    });
    assert.equal(recovered.body.ok, true);
  });

  it('a reset link works once, for two hours, and reports errors in the form', async () => {
    const client = await world.customer();
    await askReset(client.email);
    const path = await resetPath(client.email);
    await reset(world.visitor(), path);
    const cases: [string, string][] = [
      [path, 'used'],
      ['/reset?token=nothing', 'unknown'],
      [await confirmPath(client.email), 'unknown'],
    ];
    for (const [wrong, reason] of cases) {
      const { status, body } = await reset(world.visitor(), wrong, 'one more long password');
      assert.deepEqual([status, body.error, body.field, body.reason], [400, 'bad_link', 'token', reason]);
    }
    await askReset(client.email);
    const late = await resetPath(client.email);
    later(2 * HOUR_MS);
    assert.equal((await reset(world.visitor(), late)).body.reason, 'expired');
  });

  it('the reset page works without scripts, also when it is clicked twice', async () => {
    const client = await world.customer();
    const asking = world.visitor();
    assert.match((await asking.get('/reset')).text, /Email me a link/);
    assert.match(
      (await submitMailedLink(asking, '/reset', { email: client.email })).text,
      /Check your email/,
    );
    await tasksJob(world.service).run();
    const path = await resetPath(client.email);
    const typed = { password: NEW, password_confirm: NEW };
    for (const browser of [world.visitor(), world.visitor()]) {
      assert.equal((await submitMailedLink(browser, path, typed)).status, 200);
      assert.equal((await browser.get('/me.php')).body.email, client.email);
    }
    const other = { password: PASSWORD, password_confirm: PASSWORD };
    assert.match((await submitMailedLink(world.visitor(), path, other)).text, /already been used/);
    const wrong = await submitMailedLink(world.visitor(), '/reset?token=nothing');
    assert.match((await world.visitor().get('/reset?token=nothing')).text, /invalid or expired/);
    assert.equal(wrong.status, 403, 'the page had no form');
  });

  it('clicking a form twice sends one mail and opens one session', async () => {
    const client = await world.customer();
    const panel = PanelClient.forApp(world.app);
    const asking = await panel.get('/reset');
    for (let click = 1; click <= 2; click++) {
      const asked = await panel.submit(asking, 'ask', { email: client.email });
      assert.match(asked.text, /Check your email/);
    }
    await tasksJob(world.service).run();
    assert.equal((await queuedMails(world.service, 'reset_password', client.email)).length, 1);
    const form = await panel.get(await resetPath(client.email));
    const mismatch = await panel.submit(form, 'reset', { password: NEW, password_confirm: PASSWORD });
    assert.match(problemOf(mismatch.text, 'password_confirm', 'reset') ?? '', /do not match/);
    for (let click = 1; click <= 2; click++) {
      const set = await panel.submit(mismatch, 'reset', { password: NEW, password_confirm: NEW });
      assert.match(set.text, /You are signed in\. All other sessions were signed out/);
      assert.ok(set.text.includes(client.email));
    }
    const sessions = await panel.get('/account/sessions');
    assert.equal(sessions.text.split('<code>sess_').length - 1, 1);
  });

  it('a form with a foreign token or from another site is rejected', async () => {
    const client = await world.customer();
    const token = tokenFromPath(await confirmPath(client.email));
    const forged = await world.visitor().post('/confirm', { token }, { token: 'f'.repeat(64) });
    assert.equal(forged.status, 403);
    assert.match(forged.headers.get('content-type') ?? '', /^text\/html/);
    const elsewhere = { headers: { origin: 'https://evil.example' } };
    assert.equal((await client.post('/confirm', { token }, elsewhere)).status, 403);
    assert.equal((await getAccount(client)).email_confirmed, false);
  });

  it('a new password invalidates requests made with the old one', async () => {
    const client = await world.customer();
    const wanted = `wanted-${client.email}`;
    await postAccountAction(client, { action: 'change_email', email: wanted });
    await askReset(client.email);
    const [change, again] = [await confirmPath(wanted), await resetPath(client.email)];
    await postAccountAction(client, { action: 'change_password', new_password: NEW });
    assert.equal((await world.visitor().get(change)).status, 404);
    assert.equal((await reset(world.visitor(), again)).body.reason, 'unknown');
  });

  it('a frozen account can neither change its address nor sign in by mail', async () => {
    const client = await world.customer();
    await askReset(client.email);
    const path = await resetPath(client.email);
    await world.db.run('update customers set frozen_at = now() where email = $1', [client.email]);
    assert.equal((await reset(world.visitor(), path)).body.error, 'account_frozen');
    assert.match((await submitMailedLink(world.visitor(), await confirmPath(client.email))).text, /frozen/);
    assert.equal(
      (await postAccountAction(client, { action: 'change_email', email: 'a@b.example' })).body.error,
      'account_frozen',
    );
  });
});
