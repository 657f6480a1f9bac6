import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { generateKey } from 'openpgp';
import { getAccount } from '../../http/account-links.ts';
import { type HttpWorld, startHttpWorld } from '../../http/http-world.ts';
import { PanelClient, problemOf, textOf } from '../../support/panel-client.ts';
import { readPng } from '../../support/png-pixels.ts';
import { lastMailedPath, queuedMails } from '../../support/queued-mails.ts';
import { PASSWORD, type SessionClient } from '../../support/session-client.ts';
import { totpAt, wrongTotp } from '../../support/totp.ts';

const NEW = 'an entirely new password';
const current_password = PASSWORD;

describe('the account in the panel', () => {
  let world: HttpWorld;
  before(async () => {
    world = await startHttpWorld({ catalogue: true });
  });
  after(() => world.close());

  interface Person {
    readonly customer: SessionClient;
    readonly panel: PanelClient;
  }
  async function person(): Promise<Person> {
    const customer = await world.customer();
    return { customer, panel: PanelClient.forApp(world.app, { cookie: customer.cookie }) };
  }
  const tokensOf = async (customer: SessionClient) =>
    await world.db.rows<{ name: string }>('select name from api_tokens where customer_id = $1', [
      await world.customerId(customer),
    ]);

  it('the account page shows the account and resends the confirmation email', async () => {
    const { customer, panel } = await person();
    const page = await panel.get('/account');
    assert.ok(page.text.includes(customer.email));
    const done = await panel.submit(page, 'resend');
    assert.equal(done.location, '/account?done=confirmation_mailed');
    assert.match((await panel.followRedirects(done)).text, /We sent you another confirmation email/);
    assert.equal((await queuedMails(world.service, 'confirm_address', customer.email)).length, 2);
    const link = await panel.get(await lastMailedPath(world.service, 'confirm_address', customer.email));
    assert.match((await panel.submit(link, 'confirm')).text, /Email address confirmed/);
    const after = textOf((await panel.get('/account')).text);
    assert.ok(!after.includes('Resend confirmation email') && !after.includes('not confirmed'));
  });

  it('an email change needs the password and takes effect when its link is opened', async () => {
    const { customer, panel } = await person();
    const email = `next-${customer.email}`;
    const page = await panel.get('/account');
    const wrong = await panel.submit(page, 'email', { email, current_password: NEW });
    assert.equal(wrong.status, 401);
    assert.match(problemOf(wrong.text, 'current_password', 'email') ?? '', /password is incorrect/);
    assert.ok(wrong.text.includes(`value="${email}"`) && !wrong.text.includes(NEW));
    const [first, second] = [
      await panel.submit(wrong, 'email', { email, current_password }),
      await panel.submit(wrong, 'email', { email, current_password }),
    ];
    assert.deepEqual([first.location, second.location], Array(2).fill('/account?done=email_pending'));
    assert.equal(
      (await queuedMails(world.service, 'confirm_address', email)).length,
      1,
      'two clicks send one email',
    );
    assert.match(
      textOf((await panel.followRedirects(first)).text),
      new RegExp(`Pending email address ${email}`),
    );
    const link = await panel.get(await lastMailedPath(world.service, 'confirm_address', email));
    assert.match(link.text, /Change your email address/);
    await panel.submit(link, 'confirm');
    assert.equal((await getAccount(customer)).email, email);
  });

  it('a password change needs the new password twice', async () => {
    const { customer, panel } = await person();
    const other = world.visitor();
    await other.signIn(customer.email);
    const page = await panel.get('/account');
    const typed = { current_password, new_password: NEW, new_password_confirm: NEW };
    const differ = await panel.submit(page, 'password', { ...typed, new_password_confirm: PASSWORD });
    assert.match(problemOf(differ.text, 'new_password_confirm', 'password') ?? '', /do not match/);
    const short = { ...typed, new_password: 'short', new_password_confirm: 'short' };
    const weak = await panel.submit(page, 'password', short);
    assert.match(problemOf(weak.text, 'new_password', 'password') ?? '', /12 to 256/);
    const done = await panel.submit(weak, 'password', typed);
    assert.match((await panel.followRedirects(done)).text, /Password changed/);
    assert.equal((await panel.submit(weak, 'password', typed)).location, done.location, 'a second click');
    assert.equal((await other.get('/me.php')).body.logged_in, false);
    assert.equal((await other.signIn(customer.email, NEW)).body.ok, true);
  });

  it('an OpenPGP key can be set, shows its fingerprint, and can be removed', async () => {
    const { panel } = await person();
    const { publicKey, privateKey } = await generateKey({ userIDs: [{ name: 'me' }] });
    const page = await panel.get('/account');
    const send = (openpgp_key: string) => panel.submit(page, 'openpgp', { openpgp_key, current_password });
    const nonsense = await send('no key');
    assert.equal(nonsense.status, 400);
    assert.ok(
      problemOf(nonsense.text, 'openpgp_key', 'openpgp') && nonsense.text.includes('no key</textarea>'),
    );
    assert.ok(
      problemOf((await send('  ')).text, 'openpgp_key', 'openpgp'),
      'an empty field does not remove the key',
    );
    const secret = await send(privateKey);
    assert.ok(problemOf(secret.text, 'openpgp_key', 'openpgp'));
    assert.ok(!secret.text.includes(privateKey.split('\n')[3] ?? ''), 'a private key is not sent back');
    const set = await panel.followRedirects(await send(publicKey));
    assert.match(textOf(set.text), /encrypted with the key (?:[0-9A-F]{4} ){9,15}[0-9A-F]{4}/);
    const removed = await panel.submit(set, 'no_openpgp', { current_password });
    assert.match(textOf((await panel.followRedirects(removed)).text), /Email encryption off/);
  });

  it('setting up one-time codes shows the secret once and the QR code until the first code', async () => {
    const { customer, panel } = await person();
    assert.equal((await panel.get('/account/totp/qr.png')).status, 404);
    const page = await panel.get('/account/totp');
    const begin = () => panel.submit(page, 'begin', { current_password });
    const [begun, again] = await Promise.all([begin(), begin()]);
    const [, groups = ''] = /data-copy>([A-Z2-7]{4}(?: [A-Z2-7]{4})+)<\/code>/.exec(begun.text) ?? [];
    const secret = groups.replaceAll(' ', '');
    assert.ok(secret.length >= 32 && again.text.includes(groups), 'two clicks create one secret');
    assert.ok(
      begun.text.includes('href="otpauth://totp/') && begun.text.includes('src="/account/totp/qr.png"'),
    );
    const picture = await world.app.inject({
      method: 'GET',
      url: '/account/totp/qr.png',
      headers: { cookie: `PHPSESSID=${panel.cookie}` },
    });
    assert.equal(picture.headers['content-type'], 'image/png');
    assert.equal(picture.headers['cache-control'], 'no-store');
    const { width } = readPng(picture.rawPayload);
    assert.ok(begun.text.includes(`width="${width}" height="${width}"`));
    assert.equal((await PanelClient.forApp(world.app).get('/account/totp/qr.png')).status, 404);
    const wrong = await panel.submit(begun, 'confirm', { code: wrongTotp(secret) });
    assert.match(problemOf(wrong.text, 'code', 'confirm') ?? '', /incorrect/);
    for (const later of [wrong, await panel.get('/account/totp')])
      assert.ok(
        !later.text.includes(groups) && !later.text.includes(secret) && later.text.includes('qr.png'),
      );
    const on = await panel.submit(wrong, 'confirm', { code: totpAt(secret) });
    assert.equal(on.location, '/account/totp?done=totp_on');
    assert.equal((await getAccount(customer)).totp, true);
    assert.ok(!(await panel.followRedirects(on)).text.includes('qr.png'));
    assert.equal((await panel.get('/account/totp/qr.png')).status, 404);
    await world.db.run('update totp_secrets set last_step = 0');
    const off = { current_password, code: totpAt(secret) };
    const refused = await panel.submit(await panel.open('/account/totp'), 'disable', { ...off, code: '' });
    assert.match(problemOf(refused.text, 'code', 'disable') ?? '', /requires a one-time code/);
    assert.equal((await panel.submit(refused, 'disable', off)).location, '/account/totp?done=totp_off');
  });

  it('the limits page shows the use of each limit', async () => {
    const { panel } = await person();
    const { text } = await panel.get('/account/limits');
    assert.match(textOf(text), / Servers 0 50 /);
    assert.match(textOf(text), / Snapshots of a server – /);
    assert.ok(!text.includes('reached'));
    await world.db.run('update balances set servers = 50');
    const full = await panel.get('/account/limits');
    assert.match(full.text, /50 <span class="state bad">reached<\/span>/);
    await world.db.run('update balances set servers = 0');
  });

  it('the sessions page lists sessions and ends one, all others, or the current one', async () => {
    const { customer, panel } = await person();
    const others = [world.visitor(), world.visitor(), world.visitor()];
    for (const other of others) await other.signIn(customer.email);
    const page = await panel.get('/account/sessions');
    const ids = [...page.text.matchAll(/<code>(sess_\w+)<\/code>/g)].map(([, id]) => id ?? '');
    assert.equal(ids.length, 4);
    assert.equal(page.text.split('good">current').length, 2);
    const living = async () =>
      (await Promise.all(others.map((other) => other.get('/me.php')))).filter(({ body }) => body.logged_in)
        .length;
    const one = await panel.submit(page, 'end', {}, { key: ids[0] ?? '' });
    assert.equal(one.location, '/account/sessions?done=session_ended');
    assert.equal(await living(), 2);
    assert.equal((await panel.submit(page, 'end_others')).location, '/account/sessions?done=sessions_ended');
    assert.equal(await living(), 0);
    const left = await panel.get('/account/sessions');
    assert.ok(!left.text.includes('End all other sessions'));
    const own = await panel.submit(left, 'end', {}, { key: ids[3] ?? '' });
    assert.equal(own.location, '/?done=signed_out');
    assert.equal((await panel.get('/account')).location, '/signin?next=%2Faccount');
  });

  it('a token is created after the password, shown once, and revoked', async () => {
    const { customer, panel } = await person();
    const page = await panel.get('/account/tokens');
    assert.match(page.text, /No API tokens yet/);
    const wanted = { name: 'ci <b>', scope: 'write', expires_at: '2100-01-31T12:00', current_password };
    const wrong = await panel.submit(page, 'create', { ...wanted, current_password: NEW });
    assert.match(problemOf(wrong.text, 'current_password', 'create') ?? '', /password is incorrect/);
    const past = await panel.submit(page, 'create', { ...wanted, expires_at: '2001-01-01T00:00' });
    assert.ok(problemOf(past.text, 'expires_at', 'create'));
    const made = await Promise.all([1, 2].map(() => panel.submit(page, 'create', wanted)));
    const [first, second] = made.map(({ text }) => /skerry_live_[a-z2-7]{52}/.exec(text)?.[0]);
    assert.ok(first !== undefined && first === second);
    assert.deepEqual(await tokensOf(customer), [{ name: 'ci <b>' }]);
    const headers = { authorization: `Bearer ${first}` };
    const use = () => world.app.inject({ method: 'GET', url: '/v1/servers', headers });
    assert.equal((await use()).statusCode, 200);
    const list = await panel.get('/account/tokens');
    assert.ok(!list.text.includes(first));
    assert.match(textOf(list.text), /ci <b> write 20\S+ \S+ UTC 2100-01-31 12:00 UTC/);
    const revoked = await panel.submit(list, 'revoke');
    assert.equal(revoked.location, '/account/tokens?done=token_revoked');
    assert.equal((await use()).statusCode, 401);
    assert.deepEqual(await tokensOf(customer), []);
  });

  it('the audit log can be filtered by its URL and shows single events', async () => {
    const { panel } = await person();
    await panel.submit(await panel.get('/account/sessions'), 'end', { key: 'sess_x' });
    const all = await panel.get('/account/audit');
    assert.match(textOf(all.text), /customer\.end_session failed – Session Unknown/);
    const actions = ({ text }: { text: string }) =>
      [...text.matchAll(/<td[^>]*><code>(\w+\.\w+)<\/code><\/td>/g)].map(([, action]) => action);
    assert.deepEqual(actions(await panel.get('/account/audit?action=customer.sign_up&from=&to=&resource=')), [
      'customer.sign_up',
    ]);
    assert.deepEqual(actions(await panel.get('/account/audit?to=2001-01-01')), []);
    const today = new Date(Date.now() - 86_400_000).toISOString().slice(0, 10);
    const since = await panel.get(`/account/audit?from=${today}&action=nonsense`);
    assert.equal(actions(since).length, 2);
    assert.ok(since.text.includes(`value="${today}"`));
    const [, path = ''] = /href="(\/account\/audit\/audit_\w+)"/.exec(all.text) ?? [];
    assert.match((await panel.get(path)).text, /req_/);
    assert.equal((await (await person()).panel.get(path)).status, 404);
  });

  it('deleting the account needs its address and password, and the box ticked for its servers', async () => {
    const { customer, panel } = await person();
    await world.creditBalance(customer, 5_000n);
    const bought = await customer.post('/deploy-api.php', {
      product: 'vps',
      plan: 's1',
      region: 'par',
      os: 'debian13',
      billing: 1,
      hostname: 'a',
      root_password: PASSWORD,
    });
    assert.equal(bought.body.ok, true, bought.text);
    const page = await panel.get('/account/delete');
    const balance = `$${Number((await getAccount(customer)).balance).toFixed(2)}`;
    assert.ok(textOf(page.text).includes(`You lose your balance of ${balance}.`));
    assert.match(textOf(page.text), /Your server will be deleted with everything on it/);
    const form = { email: customer.email.toUpperCase(), current_password };
    const other = await panel.submit(page, 'delete', { ...form, email: 'a@b.example' });
    assert.match(problemOf(other.text, 'email', 'delete') ?? '', /not the email address/);
    const wrong = await panel.submit(page, 'delete', { ...form, current_password: NEW });
    assert.match(problemOf(wrong.text, 'current_password', 'delete') ?? '', /password is incorrect/);
    assert.match((await panel.submit(page, 'delete', form)).text, /Tick the box to delete them/);
    assert.equal((await getAccount(customer)).email, customer.email);
    const gone = await panel.submit(page, 'delete', { ...form, destroy_servers: 'on' });
    assert.equal(gone.status, 200);
    const text = textOf(gone.text);
    assert.match(text, /Your account is being deleted/);
    assert.ok(text.includes(`You gave up a balance of ${balance}.`) && !text.includes(customer.email));
    assert.equal((await panel.get('/account')).location, '/signin?next=%2Faccount');
  });

  it('an account with a pending payment cannot be deleted', async () => {
    const { customer, panel } = await person();
    await customer.post('/topup-api.php', { action: 'create', amount: 50, coin: 'BTC' });
    await world.db.run(`update topups set status = 'confirming' where customer_id = $1`, [
      await world.customerId(customer),
    ]);
    const page = await panel.get('/account/delete');
    assert.match(page.text, /while a payment is pending or\s+withheld/);
    assert.ok(!page.text.includes('value="delete"'));
  });
});
