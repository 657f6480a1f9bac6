import { createHash } from 'node:crypto';
import { generateKey } from 'openpgp';
import { createCoupon } from '../../../src/domain/billing/coupons/manage.ts';
import { createAnnouncement } from '../../../src/domain/customers/talking/announcements.ts';
import { formatId } from '../../../src/kernel/ids.ts';
import { DAY_MS } from '../../../src/kernel/time.ts';
import { PASSWORD } from '../../support/session-client.ts';
import { STEP_MS, totpAt } from '../../support/totp.ts';
import type { Click, Clicker } from './click.ts';

const passwordField = { current_password: PASSWORD };

const startTotp = async ({ session }: Clicker): Promise<string> => {
  const { body } = await session.post('/account-api.php', { action: 'enable_totp', ...passwordField });
  return String(body.secret);
};
const newCredentials = () => ({
  email: `clicked-${crypto.randomUUID()}@example.org`,
  password: PASSWORD,
  password_confirm: PASSWORD,
});

const openPgpKey = async () => {
  const { publicKey } = await generateKey({ userIDs: [{ email: 'ada@example.org' }] });
  return { ...passwordField, openpgp_key: publicKey };
};

/** One passkey for each customer, with an id made of their address. */
const passkeyUuid = (email: string) =>
  createHash('sha256')
    .update(email)
    .digest('hex')
    .replace(/^(.{8})(.{4})(.{4})(.{4})(.{12}).*/, '$1-$2-$3-$4-$5');
const passkeyOf = (email: string) => formatId('passkey', passkeyUuid(email));
const addPasskey = async ({ world, session }: Clicker): Promise<void> => {
  await world.opened.db.run(
    `insert into passkeys
       (id, customer_id, credential_id, public_key, counter, transports, name, created_at)
     select $1::uuid, id, sha256($1::uuid::text::bytea), '', 0, '{}', 'laptop', now()
       from customers where email = $2`,
    [passkeyUuid(session.email), session.email],
  );
};

export const ACCOUNT_CLICKS: readonly Click[] = [
  { form: ['/account', 'news'], once: 'customer.set_news', button: 'news' },
  {
    form: ['/announcements', 'dismiss'],
    once: null,
    prepare: async ({ world }) => {
      const { service } = world.opened;
      const until = new Date(service.clock.now().getTime() + DAY_MS);
      const text = { title: 'New disks', text: 'Faster.', level: 'info', audience: 'customers' } as const;
      await createAnnouncement(service, { ...text, until });
    },
  },
  { form: ['/account', 'openpgp'], once: 'customer.set_openpgp_key', who: 'fresh', fields: openPgpKey },
  {
    form: ['/account', 'no_openpgp'],
    once: 'customer.set_openpgp_key',
    who: 'fresh',
    prepare: async ({ session }) => {
      await session.post('/account-api.php', { action: 'set_openpgp_key', ...(await openPgpKey()) });
    },
    fields: passwordField,
  },
  { form: ['/topup', 'create'], once: 'topup.create', plain: true, fields: { amount: '50', coin: 'LTC' } },
  {
    form: ['/topup/offer', 'create'],
    once: null,
    at: () => '/topup',
    action: '/topup/offer',
    fields: { amount: '50', coin: 'LTC' },
  },
  {
    form: ['/billing/topups/{id}', 'pay'],
    once: null,
    at: ({ topups }) => `/billing/topups/${topups.short}`,
  },
  {
    form: ['/billing/topups/{id}', 'mine'],
    once: null,
    button: 'count',
    at: ({ topups }) => `/billing/topups/${topups.confirming}`,
  },
  {
    form: ['/billing/topups/{id}', 'cancel'],
    once: 'topup.cancel',
    at: ({ topups }) => `/billing/topups/${topups.waiting}`,
  },
  {
    form: ['/billing', 'redeem'],
    once: 'coupon.redeem',
    who: 'fresh',
    fields: async ({ world }) => {
      const code = `C-${crypto.randomUUID().slice(0, 8)}`;
      const order = { coupon_code: code, amount_usd: '5.00', max_uses: 1 };
      await createCoupon(world.opened.service, order);
      return { code };
    },
  },
  { form: ['/account', 'resend'], once: 'customer.resend_confirmation', who: 'fresh' },
  {
    form: ['/account', 'email'],
    once: 'customer.change_email',
    who: 'fresh',
    fields: () => ({ ...passwordField, email: newCredentials().email }),
  },
  {
    form: ['/account', 'password'],
    once: 'customer.change_password',
    who: 'fresh',
    fields: {
      ...passwordField,
      new_password: 'another long password',
      new_password_confirm: 'another long password',
    },
  },
  { form: ['/account/totp', 'begin'], once: 'customer.begin_totp', who: 'fresh', fields: passwordField },
  {
    form: ['/account/totp', 'confirm'],
    once: 'customer.enable_totp',
    who: 'fresh',
    fields: async (clicker) => ({ code: totpAt(await startTotp(clicker)) }),
  },
  {
    form: ['/account/totp', 'disable'],
    once: 'customer.disable_totp',
    who: 'fresh',
    fields: async (clicker) => {
      const secret = await startTotp(clicker);
      await clicker.session.post('/account-api.php', { action: 'enable_totp', code: totpAt(secret) });
      // A code is accepted once, so use the next one.
      return { ...passwordField, code: totpAt(secret, Date.now() + STEP_MS) };
    },
  },
  {
    form: ['/account/passkeys', 'rename'],
    once: 'customer.rename_passkey',
    who: 'fresh',
    prepare: addPasskey,
    key: ({ session }) => passkeyOf(session.email),
    fields: { name: 'phone' },
  },
  {
    form: ['/account/passkeys', 'remove'],
    once: 'customer.remove_passkey',
    who: 'fresh',
    prepare: addPasskey,
    key: ({ session }) => passkeyOf(session.email),
    fields: passwordField,
  },
  {
    form: ['/account/sessions', 'end'],
    once: 'customer.end_session',
    who: 'fresh',
    key: ({ session }) => session.recoveryCode,
  },
  { form: ['/account/sessions', 'end_others'], once: 'customer.end_session', who: 'fresh' },
  {
    form: ['/account/tokens', 'create'],
    once: 'token.create',
    plain: true,
    fields: { ...passwordField, name: 'clicked', scope: 'read' },
  },
  {
    form: ['/account/tokens/{id}', 'update'],
    once: 'token.update',
    at: ({ token }) => `/account/tokens/${token}`,
    fields: { name: 'clicked', 'limits.max_servers': '3' },
  },
  { form: ['/account/tokens', 'revoke'], once: 'token.revoke', key: ({ estate }) => estate.token },
  {
    form: ['/account/delete', 'delete'],
    // The second click finds its session ended.
    apart: true,
    once: 'customer.delete',
    who: 'fresh',
    fields: ({ session }) => ({ ...passwordField, email: session.email }),
  },
];

export const SIGN_IN_CLICKS: readonly Click[] = [
  {
    form: ['/signup', 'sign_up'],
    once: 'customer.sign_up',
    who: 'stranger',
    plain: true,
    fields: newCredentials,
  },
  {
    form: ['/signin', 'sign_in'],
    once: 'customer.sign_in',
    who: 'stranger',
    fields: ({ session }) => ({ email: session.email, password: PASSWORD }),
  },
  {
    form: ['/recover', 'recover'],
    once: 'customer.recover',
    who: 'stranger',
    fields: ({ session }) => ({
      ...newCredentials(),
      email: session.email,
      recovery_code: session.recoveryCode,
    }),
  },
  {
    form: ['/confirm', 'confirm'],
    once: 'customer.confirm_address',
    who: 'stranger',
    at: ({ links }) => links.confirm,
  },
  {
    form: ['/reset', 'ask'],
    once: null,
    who: 'stranger',
    fields: ({ session }) => ({ email: session.email }),
  },
  {
    form: ['/abuse', 'report'],
    once: null,
    who: 'stranger',
    fields: { address: '192.0.2.1', time: '2020-01-01 12:00', kind: 'spam', evidence: 'A log line' },
  },
  {
    form: ['/reset', 'reset'],
    once: 'customer.reset_password',
    who: 'stranger',
    at: ({ links }) => links.reset,
    fields: { password: 'quite another password', password_confirm: 'quite another password' },
  },
  {
    form: ['/news/off', 'off'],
    once: 'customer.set_news',
    who: 'stranger',
    at: ({ links }) => links.newsOff,
    prepare: async ({ world }) => {
      await world.opened.db.run('update customers set news_off_at = null');
    },
  },
  { form: ['/signout', 'sign_out'], once: 'customer.sign_out', who: 'fresh' },
];
