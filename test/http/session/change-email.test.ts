import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { DAY_MS } from '../../../src/kernel/time.ts';
import { LIMITS } from '../../../src/spec/limits.ts';
import { updateOpenPgpKey } from '../../../src/store/customers/customers.ts';
import { lastMailedPath, queuedMails } from '../../support/queued-mails.ts';
import { PASSWORD } from '../../support/session-client.ts';
import { getAccount, postAccountAction, submitMailedLink } from '../account-links.ts';
import { type HttpWorld, startHttpWorld } from '../http-world.ts';

const NEW = 'a completely new password';

describe('changing the email address', () => {
  let world: HttpWorld;
  before(async () => {
    world = await startHttpWorld();
  });
  after(() => world.close());

  const confirmPath = (address: string) => lastMailedPath(world.service, 'confirm_address', address);

  it('a new address takes effect by its link, and the old one can undo it for a week', async () => {
    const client = await world.customer();
    const old = client.email;
    const fresh = `new-${old}`;
    const wrong = await postAccountAction(client, {
      action: 'change_email',
      email: fresh,
      current_password: 'not it',
    });
    assert.deepEqual([wrong.status, wrong.body.error], [200, 'bad_credentials']);
    const asked = (await postAccountAction(client, { action: 'change_email', email: fresh })).body;
    assert.deepEqual(asked, { ok: true, email: old, pending_email: fresh });
    assert.deepEqual(
      [(await getAccount(client)).email, (await getAccount(client)).pending_email],
      [old, fresh],
    );
    assert.equal((await world.visitor().signIn(fresh)).body.error, 'bad_credentials');
    const path = await confirmPath(fresh);
    assert.match((await world.visitor().get(path)).text, new RegExp(fresh));
    for (let click = 0; click < 2; click++)
      assert.equal((await submitMailedLink(world.visitor(), path)).status, 200);
    assert.equal((await client.get('/me.php')).body.email, fresh);
    assert.equal((await client.signIn(old)).body.error, 'bad_credentials');

    const intruder = world.visitor();
    assert.equal(
      (await intruder.signUp({ email: old })).body.error,
      'email_taken',
      'the old address stays reserved for its owner',
    );
    const [notice] = await queuedMails(world.service, 'address_changed', old);
    const undo = notice?.data.undo?.path ?? '';
    const owner = world.visitor();
    assert.match((await owner.get(undo)).text, /Recover your account/);
    assert.equal((await submitMailedLink(owner, undo, { password: NEW, password_confirm: NEW })).status, 200);
    assert.equal((await owner.get('/me.php')).body.email, old);
    assert.equal((await client.get('/me.php')).body.logged_in, false);
    assert.equal((await client.signIn(old, PASSWORD)).body.error, 'bad_credentials');
    assert.equal((await world.visitor().signUp({ email: fresh })).body.ok, true);
    const [displaced, ...more] = await queuedMails(world.service, 'address_changed', fresh);
    assert.deepEqual(
      [displaced?.data.undo, more.length],
      [null, 0],
      'the other session is notified, and gets no further mail',
    );
  });

  it('undoing an address change also removes the intruder’s OpenPGP key and pending changes', async () => {
    const client = await world.customer();
    const { email } = client;
    const set = async (fingerprint: string) =>
      updateOpenPgpKey(
        world.db,
        await world.customerId(client),
        { armored: 'key', fingerprint },
        world.clock.now(),
      );
    await set('intruder');
    await postAccountAction(client, { action: 'change_email', email: `intruder-${email}` });
    await submitMailedLink(world.visitor(), await confirmPath(`intruder-${email}`));
    await postAccountAction(client, { action: 'change_email', email: `again-${email}` });
    const [notice] = await queuedMails(world.service, 'address_changed', email);
    const owner = world.visitor();
    await submitMailedLink(owner, notice?.data.undo?.path ?? '', { password: NEW, password_confirm: NEW });
    const { email: now, pending_email, openpgp_fingerprint } = await getAccount(owner);
    assert.deepEqual([now, pending_email, openpgp_fingerprint], [email, null, null]);
    assert.equal((await world.visitor().get(await confirmPath(`again-${email}`))).status, 404);
    // A key from long before the change belongs to the owner.
    await set('own');
    world.clock.offsetMs += LIMITS.openPgpKeyTrustedDays * DAY_MS;
    await client.signIn(email, NEW);
    const fields = { action: 'change_email', email: `moved-${email}`, current_password: NEW };
    await client.post('/account-api.php', fields);
    await submitMailedLink(world.visitor(), await confirmPath(`moved-${email}`));
    const second = (await queuedMails(world.service, 'address_changed', email)).at(-1);
    await submitMailedLink(owner, second?.data.undo?.path ?? '', { password: NEW, password_confirm: NEW });
    assert.equal((await getAccount(owner)).openpgp_fingerprint, 'own');
  });

  it('abandoned address changes count toward the hourly mail limit', async () => {
    const client = await world.customer();
    const answers: unknown[] = [];
    for (let sent = 0; sent < LIMITS.linkMailsPerHour; sent++) {
      const answer = await postAccountAction(client, {
        action: 'change_email',
        email: `${sent}-${client.email}`,
      });
      answers.push(answer.body.error ?? 'ok');
    }
    // The mail from the sign-up also counts.
    assert.deepEqual(answers, [...Array(LIMITS.linkMailsPerHour - 1).fill('ok'), 'rate_limited']);
    assert.equal((await getAccount(client)).pending_email, `${LIMITS.linkMailsPerHour - 2}-${client.email}`);
  });

  it('a change to a taken address is rejected, and an overtaken change has no effect', async () => {
    const [one, two] = [await world.customer(), await world.customer()];
    const taken = await postAccountAction(one, { action: 'change_email', email: two.email.toUpperCase() });
    assert.deepEqual([taken.status, taken.body.error], [200, 'email_taken']);
    assert.equal(
      (await postAccountAction(one, { action: 'change_email', email: 'x' })).body.error,
      'bad_email',
    );
    const wanted = `wanted-${one.email}`;
    await postAccountAction(one, { action: 'change_email', email: wanted });
    const path = await confirmPath(wanted);
    await world.visitor().signUp({ email: wanted });
    const overtaken = await submitMailedLink(world.visitor(), path);
    assert.equal(overtaken.status, 409);
    assert.match(overtaken.text, /already exists/);
    assert.equal((await getAccount(one)).email, one.email);
  });

  it('without mail, an address changes immediately and no link is promised', async () => {
    const mute = { ...world.service, mailer: null };
    const { requestReset } = await import('../../../src/domain/customers/reset-password.ts');
    const { changeEmail } = await import('../../../src/domain/customers/email/change.ts');
    const client = await world.customer();
    const customerId = await world.customerId(client);
    const actor = { customerId, sessionId: null, tokenId: null, requestId: 'req_test', ipCountry: 'XX' };
    await assert.rejects(requestReset(mute, actor, client.email), { code: 'unavailable' });
    const email = `now-${client.email}`;
    const change = await changeEmail(mute, actor, { currentPassword: PASSWORD, email });
    assert.deepEqual(change, { email, pendingEmail: null });
  });
});
