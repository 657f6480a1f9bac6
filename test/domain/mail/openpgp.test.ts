/** Checks which OpenPGP keys are accepted and that only the private key reads the mail. */
import assert from 'node:assert/strict';
import { before, describe, it } from 'node:test';
import * as openpgp from 'openpgp';
import { enqueueMail, type NewMail } from '../../../src/domain/mail/enqueue.ts';
import { checkOpenPgpKey, encryptMail } from '../../../src/domain/mail/openpgp.ts';
import { messageBytes } from '../../../src/drivers/mail/message.ts';
import { MailOutbox } from '../../../src/drivers/mail/outbox.ts';
import { Failure } from '../../../src/kernel/fail.ts';
import { newId, newPublicNumber } from '../../../src/kernel/ids.ts';
import { parseSender } from '../../../src/kernel/settings/smtp-url.ts';
import { LIMITS } from '../../../src/spec/limits.ts';
import { insertCustomer, updateOpenPgpKey } from '../../../src/store/customers/customers.ts';
import { mailJob } from '../../../src/workers/mail.ts';
import { startTestService } from '../../support/test-service.ts';

const MAIL = { subject: 'Größe', text: 'Two lines,\none of them with Ünïcode.\n' };
const YEAR_S = 365 * 86_400;

type Options = Omit<openpgp.KeyOptions, 'userIDs' | 'format'>;
interface Pair {
  readonly privateKey: string;
  readonly publicKey: string;
  readonly revocationCertificate: string;
}

async function generate(options: Options = {}): Promise<Pair> {
  const keyPair = await openpgp.generateKey({
    userIDs: [{ name: 'Ann', email: 'ann@example.org' }],
    ...options,
  });
  return keyPair as unknown as Pair;
}

/** Returns the error message for a key. */
async function problem(armored: string): Promise<string> {
  try {
    await checkOpenPgpKey(armored);
  } catch (error) {
    assert.ok(error instanceof Failure);
    assert.deepEqual([error.code, error.extras], ['bad_openpgp_key', { field: 'openpgp_key' }]);
    return error.message;
  }
  return assert.fail('the key was accepted');
}

async function decrypt(armored: string, pair: Pair): Promise<string> {
  const message = await openpgp.readMessage({ armoredMessage: armored });
  const decryptionKeys = await openpgp.readPrivateKey({ armoredKey: pair.privateKey });
  const { data } = await openpgp.decrypt({ message, decryptionKeys, format: 'binary' });
  return Buffer.from(data).toString();
}

describe('OpenPGP', () => {
  let pair: Pair;
  before(async () => {
    pair = await generate();
  });

  it('an accepted key is stored without the text around it', async () => {
    const key = await checkOpenPgpKey(pair.publicKey.replace('-----\n\n', '-----\nComment: hello\n\n'));
    assert.match(key.fingerprint, /^[0-9A-F]{40}$/);
    assert.equal(key.expiresAt, null);
    assert.doesNotMatch(key.armored, /hello/);
    assert.equal((await checkOpenPgpKey(key.armored)).fingerprint, key.fingerprint);
    const ending = await checkOpenPgpKey((await generate({ keyExpirationTime: YEAR_S })).publicKey);
    assert.ok(
      ending.expiresAt && Math.abs(ending.expiresAt.getTime() - Date.now() - YEAR_S * 1_000) < 60_000,
    );
  });

  it('a key that cannot encrypt is rejected with the reason', async () => {
    const past = { date: new Date(Date.now() - 2 * YEAR_S * 1_000), keyExpirationTime: YEAR_S };
    const { publicKey: revoked } = await openpgp.revokeKey({
      key: await openpgp.readKey({ armoredKey: pair.publicKey }),
      revocationCertificate: pair.revocationCertificate,
      format: 'armored',
    });
    const deadPart = await generate({ subkeys: [{ sign: true }] });
    for (const [key, why] of [
      ['', /begin with -----BEGIN PGP/],
      ['-----BEGIN PGP PUBLIC KEY BLOCK-----\n\nAAAA\n-----END PGP PUBLIC KEY BLOCK-----', /Not an armored/],
      [pair.publicKey.slice(0, 300), /Not an armored/],
      [await encryptMail(MAIL, pair.publicKey), /Not an armored/],
      [pair.privateKey, /private/],
      [revoked, /revoked/],
      [(await generate(past)).publicKey, /expired on \d{4}-\d\d-\d\d/],
      [deadPart.publicKey, /cannot encrypt/],
      [`${pair.publicKey}${'x'.repeat(64 * 1024)}`, /64 KiB/],
    ] as const) {
      assert.match(await problem(String(key)), why);
    }
  });

  it('only the private key reads an encrypted mail, including its real subject', async () => {
    const armored = await encryptMail(MAIL, pair.publicKey);
    assert.ok(armored);
    assert.doesNotMatch(armored, /Ünïcode|Größe|Two lines/);
    const part = await decrypt(armored, pair);
    const [head = '', ...body] = part.split('\r\n\r\n');
    assert.match(head, /^Content-Type: text\/plain; charset=utf-8; protected-headers="v1"\r\n/);
    assert.match(
      head,
      new RegExp(`^Subject: =\\?UTF-8\\?B\\?${Buffer.from(MAIL.subject).toString('base64')}\\?=$`, 'm'),
    );
    assert.equal(body.join('\r\n\r\n').replaceAll('\r\n', '\n'), MAIL.text);
  });

  it('an encrypted mail travels intact as PGP/MIME', async () => {
    const armored = (await encryptMail(MAIL, pair.publicKey)) ?? '';
    const from = parseSender('a@b.example');
    assert.ok(from);
    const mail = {
      id: 'mail_a',
      to: 'ann@example.org',
      subject: 'A message',
      text: armored,
      encrypted: true,
    };
    const bytes = (await messageBytes(mail, from, new Date())).toString();
    const part = 'Content-Type: multipart/encrypted;\\s+protocol="application/pgp-encrypted"';
    const boundary = new RegExp(`^${part};\\s+boundary="([^"]+)"`, 'm').exec(bytes)?.[1];
    assert.ok(boundary, bytes);
    const [, control = '', content = '', end] = bytes.split(`--${boundary}`);
    assert.match(control, /^\r\nContent-Type: application\/pgp-encrypted\r\n[\s\S]*\r\n\r\nVersion: 1\r\n/);
    assert.match(content, /Content-Type: application\/octet-stream; name="?encrypted\.asc"?\r\n/);
    assert.match(content, /Content-Disposition: inline; filename="?encrypted\.asc"?\r\n/);
    assert.match(String(end), /^--\r\n/);
    const arrived = content.slice(content.indexOf('-----BEGIN'));
    assert.match(await decrypt(arrived, pair), /Two lines,/);
  });

  it('only security notices go out in the clear, while a key is new or unusable', async () => {
    const world = await startTestService();
    const { service, db, clock } = world;
    const id = newId(clock.now());
    const email = 'Ann@Example.org';
    const digest = Buffer.alloc(32);
    const account = { id, publicNo: newPublicNumber(), email, emailKey: email.toLowerCase() };
    await insertCustomer(db, {
      ...account,
      passwordHash: '',
      recoveryDigest: digest,
      createdAt: clock.now(),
    });
    const setKey = (armored: string, fingerprint: string) =>
      updateOpenPgpKey(db, id, { armored, fingerprint }, clock.now());
    const send = async (mail: NewMail) => {
      await enqueueMail(db, mail, clock.now(), service.keys);
      await mailJob(service).run();
    };
    const signIn = (cause: string) => {
      const data = { signedInAt: clock.now(), country: 'IS' };
      return send({ customerId: id, kind: 'new_sign_in', cause, data });
    };
    const change = (cause: string) => {
      const data = { changedAt: clock.now(), undo: { path: '/undo', expiresAt: clock.now() } };
      return send({ customerId: id, kind: 'address_changed', cause, data, to: 'former@example.org' });
    };
    await setKey(pair.publicKey, 'F');
    await signIn('one');
    await change('young');
    clock.advanceS(LIMITS.openPgpKeyTrustedDays * 86_400);
    await setKey(pair.publicKey, 'F');
    await change('trusted');
    const old = await generate({ date: new Date(Date.now() - 100_000), keyExpirationTime: 10 });
    await setKey(old.publicKey, 'G');
    await signIn('two');
    clock.advanceS(LIMITS.openPgpKeyTrustedDays * 86_400);
    await change('expired');
    assert.ok(service.mailer instanceof MailOutbox);
    const [secret, notice, ...others] = await service.mailer.read('ann@example.ORG');
    assert.ok(secret && notice && others.length === 0);
    const inClear = (await service.mailer.read('former@example.org')).map(({ text }) =>
      text.includes('/undo'),
    );
    assert.deepEqual(inClear, [true, false, true], 'in the clear while the key is new, and after it expires');
    assert.deepEqual([secret.to, secret.subject], [email, 'A message about your account']);
    assert.match(
      await decrypt(secret.text, pair),
      /^Subject: New sign-in to your account\r\n[\s\S]*Iceland/m,
    );
    assert.match(notice.text.replaceAll('\n', ' '), /can no longer encrypt/);
    assert.doesNotMatch(notice.subject + notice.text, /Iceland|sign-in/);
    await world.close();
  });
});
