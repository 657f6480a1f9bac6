/** Renders every mail: the text is complete, and hostile names cannot break it. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { parseMailData, serializeMailData } from '../../../src/domain/mail/enqueue.ts';
import { renderKeyUnusable, renderMail } from '../../../src/domain/mail/render.ts';
import type { MailData } from '../../../src/spec/mails/data.ts';
import { MAIL_KINDS, MAILS, type MailKind } from '../../../src/spec/mails/kinds.ts';
import { FIRED_PHRASES, firedAlerts } from './fired-alerts.ts';

const PANEL = { baseUrl: 'https://panel.example' };
const LINE_MAX_CHARS = 78;

const at = (text: string) => new Date(`${text}Z`);
const NOW = at('2026-03-01T12:30:45');
const LATER = at('2026-03-08T12:30:45');

const NEWS_OFF = { path: '/off', postPath: '/off/now' };

/** A name that tries to inject a header, a line, invisible characters, or unbounded text. */
const INJECTED = 'web-1\r\nBcc: all@example.org\r\n\r\nNow pay';
const HOSTILE = `${INJECTED}\u2028here\u202e\u0000\ud800 ${'🦭'.repeat(400)}`;

function sample(name: string): MailData {
  const cost = { server: name, months: 3, priceCents: 1_125n, balanceCents: -50n };
  const servers = [
    { server: name, months: 1, oldCycleCents: 500n, newCycleCents: 600n, renewsAt: LATER },
    { server: 'b', months: 12, oldCycleCents: 3_000n, newCycleCents: 3_600n, renewsAt: LATER },
  ];
  return {
    low_balance: { ...cost, paidUntil: LATER, neededCents: 2_000n, balanceCents: 1_234n },
    server_ends: { server: name, months: 3, paidUntil: LATER, priceCents: 1_125n },
    server_suspended: { ...cost, reason: 'balance', suspendedAt: NOW, destroyAt: LATER },
    destruction_warning: { ...cost, reason: 'not_renewed', days: 1, destroyAt: LATER },
    server_destroyed: { server: name, reason: 'balance', suspendedAt: NOW, destroyedAt: LATER },
    server_lost: {
      ...{ server: name, lostAt: NOW, refundedCents: 412n },
      ...{ keepsAddresses: false, keepsDisk: false, isSuspended: false },
    },
    server_blackholed: { server: name, target: 'both', flood: 'in', blackholedAt: NOW, until: LATER },
    blackhole_lifted: { server: name, target: 'ipv4', liftedAt: NOW },
    storage_lost: { lostAt: NOW, volumes: [name], snapshots: ['nightly'], more: 3 },
    price_change: { plan: name, oldMonthCents: 500n, newMonthCents: 600n, from: LATER, servers },
    alerts_fired: { firedAt: NOW, alerts: firedAlerts(name), more: 3, isLast: true },
    ticket_opened: { ticket: 'tkt_abc', subject: `Abuse: ${name}`, text: 'Spam from web-1', answerBy: LATER },
    ticket_answered: { ticket: 'tkt_abc', subject: name, text: 'Hello web-1\n\nBye', isClosed: true },
    mailing: { subject: name, text: 'Hello web-1\n\n-- \nBye', off: NEWS_OFF },
    webhook_paused: { webhook: 'whk_abc', url: `https://hooks.example/${name}`, pausedAt: NOW },
    topup_credited: {
      ...{ topup: 'top_abc', coin: name, creditedCents: 10_000n, bonusCents: 3_000n },
      ...{ balanceCents: 13_000n, creditedAt: NOW },
    },
    topup_reversed: {
      ...{ topup: 'top_abc', coin: name, reversedCents: 13_000n, balanceCents: -250n, reversedAt: NOW },
      ...{ fate: 'spent', suspendAt: LATER },
    },
    new_sign_in: { signedInAt: NOW, country: 'IS' },
    confirm_address: { path: '/confirm?token=abc', expiresAt: LATER },
    address_changed: { changedAt: NOW, undo: { path: '/undo?token=abc', expiresAt: LATER } },
    reset_password: { path: '/reset?token=abc', requestedAt: NOW, expiresAt: LATER, country: 'XX' },
    password_changed: { changedAt: NOW, country: 'IS' },
    openpgp_key_changed: { changedAt: NOW, fingerprint: 'AB12'.repeat(10), country: 'XX' },
    totp_changed: { changedAt: NOW, on: true, by: 'customer', country: 'IS' },
    passkey_changed: { changedAt: NOW, name, added: true, country: 'IS' },
    access_revoked: { changedAt: NOW, by: 'recovery_code', tokens: 2, webhooks: 1, country: 'IS' },
    token_created: {
      ...{ changedAt: NOW, name, scope: 'billing', expiresAt: LATER, byToken: true, country: 'IS' },
      isLast: false,
    },
    webhook_created: {
      ...{ changedAt: NOW, webhook: 'whk_abc', url: `https://hooks.example/${name}`, byToken: false },
      ...{ country: 'XX', isLast: true },
    },
    backups_failed: { server: name, failedAt: NOW, lastReadyAt: null },
    account_deleted: { deletedAt: NOW },
  };
}

function render<Kind extends MailKind>(kind: Kind, data: MailData[Kind]) {
  return renderMail(kind, parseMailData(kind, serializeMailData(data)), PANEL);
}

/** The phrases that each mail must contain, regardless of line breaks. */
const EXPECTED_PHRASES: Record<MailKind, readonly string[]> = {
  low_balance: [
    'Balance too low to renew web-1',
    ...['paid until 2026-03-08 12:30 UTC', '3 months at $11.25', 'balance is $12.34', '$20.00 in total'],
    ...[
      "you're short by $7.66",
      'top up $30.00 or more (the minimum top-up) before',
      'https://panel.example/topup?amount=30.00',
    ],
  ],
  alerts_fired: FIRED_PHRASES,
  ticket_opened: ['Abuse: web-1', 'Spam from web-1', 'We ask for your answer by', '/support/tkt_abc'],
  ticket_answered: ['ticket: web-1', 'ticket, and closed it:', 'Hello web-1', '.example/support/tkt_abc'],
  mailing: ['web-1', 'Hello web-1', 'turn it off, open this link: https://panel.example/off'],
  server_ends: [
    'web-1 will not renew',
    'paid until 2026-03-08 12:30 UTC',
    'pays $11.25 for 3 months',
    'https://panel.example/servers',
  ],
  server_suspended: [
    'web-1 was suspended',
    ...[
      'at 2026-03-01 12:30 UTC',
      'balance of -$0.50 did not cover',
      'top up $30.00 or more (the minimum top-up). It resumes',
      'topup?amount=30.00',
      'at 2026-03-08 12:30 UTC, we will delete it',
    ],
  ],
  destruction_warning: [
    'web-1 will be deleted in 1 day',
    ...[
      'at 2026-03-08 12:30 UTC, we will delete it',
      'charges $11.25 for the next 3 months',
      'https://panel.example/servers',
    ],
  ],
  server_destroyed: ['web-1 was deleted', 'it at 2026-03-08 12:30 UTC', 'snapshots are still yours'],
  server_lost: [
    'web-1 was lost',
    ...['gave it up at 2026-03-01 12:30 UTC', 'refunded $4.12', 'https://panel.example/servers'],
  ],
  server_blackholed: ['drop the traffic of web-1', 'Since 2026-03-01 12:30 UTC', 'at 2026-03-08 12:30 UTC'],
  blackhole_lifted: ['The traffic of web-1 passes again', 'at its IPv4 address pass again'],
  storage_lost: [
    'Volumes or snapshots were lost',
    ...['gave it up at 2026-03-01 12:30 UTC', 'Volumes: web-1', 'Snapshots: nightly', '3 more are not'],
  ],
  backups_failed: [
    'Backups of web-1 fail',
    ...['the last at 2026-03-01 12:30 UTC', 'It has no other backup', 'https://panel.example/servers'],
  ],
  price_change: [
    'New price for plan web-1 from 2026-03-08',
    ...['$6.00 per month', '$5.00', '* b: $36.00 for 12 months instead of $30.00 from 2026-03-08 12:30 UTC'],
  ],
  webhook_paused: [
    'Your webhook was paused',
    'whk_abc',
    'https://hooks.example/web-1',
    '410',
    '2026-03-01 12:30 UTC',
  ],
  topup_credited: [
    'Top-up credited: $100.00',
    'bonus of $30.00',
    'balance after this top-up is $130.00',
    'top_abc',
  ],
  topup_reversed: [
    'Top-up reversed: $130.00',
    'at 2026-03-01 12:30 UTC',
    'balance is now -$2.50',
    'cannot return',
    'still negative at 2026-03-08 12:30 UTC',
    'https://panel.example/topup?amount=30.00',
    'top_abc',
  ],
  new_sign_in: ['New sign-in', '2026-03-01 12:30 UTC from Iceland', 'https://panel.example/account'],
  confirm_address: ['Confirm', 'https://panel.example/confirm?token=abc', 'expires at 2026-03-08 12:30 UTC'],
  address_changed: ['address', '2026-03-01 12:30 UTC', 'https://panel.example/undo?token=abc'],
  reset_password: ['Reset your password', 'an unknown country', 'https://panel.example/reset?token=abc'],
  password_changed: [
    "Your account's password was changed at 2026-03-01 12:30 UTC from Iceland",
    'https://panel.example/reset',
  ],
  openpgp_key_changed: [
    'OpenPGP key was set',
    '2026-03-01 12:30 UTC from an unknown country',
    'AB12'.repeat(10),
    'https://panel.example/reset',
    'https://panel.example/account',
  ],
  totp_changed: [
    'now require a code',
    'turned on for your account at 2026-03-01 12:30 UTC from Iceland',
    'with your recovery code',
    'https://panel.example/',
  ],
  passkey_changed: [
    'A passkey was added to your account at 2026-03-01 12:30 UTC from Iceland',
    'can sign in without your password',
    'https://panel.example/reset',
  ],
  access_revoked: [
    'revoked 2 API tokens and paused 1 webhook of your account at 2026-03-01 12:30 UTC from Iceland',
    'because your account was recovered',
    'https://panel.example/account/tokens',
    'https://panel.example/webhooks',
  ],
  token_created: [
    'created with another API token at 2026-03-01 12:30 UTC from Iceland',
    ...['web-1 (billing)', 'expires at 2026-03-08 12:30 UTC', 'https://panel.example/account/tokens'],
    'https://panel.example/reset',
  ],
  webhook_created: [
    'created in your account at 2026-03-01 12:30 UTC from an unknown country',
    ...[
      'https://hooks.example/web-1',
      'last email about new webhooks',
      'https://panel.example/webhooks/whk_abc',
    ],
    'https://panel.example/reset',
  ],
  account_deleted: ['Your account was deleted', '2026-03-01 12:30 UTC'],
};

describe('mails', () => {
  for (const kind of MAIL_KINDS) {
    it(`the ${kind} mail says what happened, when, and what to do`, () => {
      const { subject, text } = render(kind, sample('web-1')[kind]);
      const whole = `${subject} ${text}`.replaceAll('\n', ' ');
      for (const phrase of EXPECTED_PHRASES[kind])
        assert.ok(whole.includes(phrase), `${phrase}\n${subject}\n${text}`);
      assert.doesNotMatch(whole, /undefined|NaN|null|\[object|\d{4}-\d\d-\d\dT/);
      assert.match(text, /\n\n-- \nhttps:\/\/panel\.example\/\n/);
      assert.ok(text.endsWith('\n'));
      const longest = Math.max(...text.split('\n').map((line) => line.length));
      assert.ok(kind === 'webhook_paused' || longest <= LINE_MAX_CHARS, text);
    });

    it(`a hostile name does not break the ${kind} mail`, () => {
      const { subject, text } = render(kind, sample(HOSTILE)[kind]);
      assert.doesNotMatch(subject, /[\p{C}\p{Zl}\p{Zp}]/u);
      assert.ok([...subject].length <= 120, subject);
      assert.doesNotMatch(text.replaceAll('\n', ''), /[\p{C}\p{Zl}\p{Zp}]/u);
      assert.doesNotMatch(text, /^Bcc/m);
      assert.ok(text.length < 3_000);
    });
  }

  it('the mail about a suspension by the operator carries the note and no payment instructions', () => {
    const data = { ...sample('web-1').server_suspended, reason: 'operator' as const, destroyAt: null };
    const { text } = render('server_suspended', { ...data, note: 'abuse case 17\r\nBcc: x' });
    const whole = text.replaceAll('\n', ' ');
    assert.match(whole, /Message from our team: abuse case 17 Bcc: x/);
    assert.match(whole, /Only our team can lift this suspension/);
    assert.doesNotMatch(whole, /top up|delete/i);
  });

  it('a mail about the deletion of a protected server says that the protection does not prevent it', () => {
    const samples = sample('web-1');
    const texts = (isProtected: boolean) =>
      [
        render('server_ends', { ...samples.server_ends, isProtected }),
        render('server_suspended', { ...samples.server_suspended, isProtected }),
        render('destruction_warning', { ...samples.destruction_warning, isProtected }),
      ].map(({ text }) => text.replaceAll('\n', ' '));
    for (const text of texts(true)) assert.match(text, /The protection does not prevent this deletion/);
    for (const text of texts(false)) assert.doesNotMatch(text, /protect/);
  });

  it('the suggested top-up covers a shortfall above the minimum top-up', () => {
    const data = { ...sample('web-1').destruction_warning, reason: 'balance' as const, priceCents: 3_200n };
    const { text } = render('destruction_warning', data);
    assert.match(text.replaceAll('\n', ' '), /top up \$32\.50 or more\. It resumes.*topup\?amount=32\.50/);
  });

  it('the mail about a removed OpenPGP key has no fingerprint', () => {
    const removed = { changedAt: NOW, fingerprint: null, country: 'IS' };
    const { subject, text } = render('openpgp_key_changed', removed);
    assert.match(subject, /removed$/);
    assert.match(text.replaceAll('\n', ' '), /removed at .* UTC from Iceland\. We no longer encrypt/);
  });

  it('the mail about disabled one-time codes says how they were turned off', () => {
    const off = (by: MailData['totp_changed']['by']) =>
      render('totp_changed', { changedAt: NOW, on: false, by, country: 'IS' }).text.replaceAll('\n', ' ');
    assert.match(off('customer'), /turned off for your account at 2026-03-01 12:30 UTC from Iceland\./);
    assert.match(off('recovery_code'), /from Iceland, by recovery code\..*https:\/\/panel\.example\/reset/);
    assert.match(off('operator'), /12:30 UTC by our team/);
    assert.doesNotMatch(off('operator'), /Iceland/);
  });

  it('the mail about an undone address change names the recovery code and the current address', () => {
    const { text } = render('address_changed', { changedAt: NOW, undo: null });
    assert.match(
      text.replaceAll('\n', ' '),
      /uses the previous address again[\s\S]*your recovery code and the account's current email address/,
    );
    assert.doesNotMatch(text, /works once/);
  });

  it('only mails that are bound to a time go stale', () => {
    const data = sample('web-1');
    const stale = MAIL_KINDS.filter((kind) => MAILS[kind].staleAt !== undefined);
    const ending = ['low_balance', 'server_ends', 'destruction_warning'];
    assert.deepEqual(stale, [...ending, 'confirm_address', 'reset_password']);
    assert.deepEqual(MAILS.reset_password.staleAt?.(data.reset_password), LATER);
  });

  it('the notice about an unusable key reveals nothing else', () => {
    const { subject, text } = renderKeyUnusable(PANEL);
    assert.match(text, /https:\/\/panel\.example\/account/);
    assert.doesNotMatch(`${subject}${text}`, /\$|UTC|server/);
  });
});
