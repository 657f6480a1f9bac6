/** Every mail as it is read: what it says, and that nobody's words can break it. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { parseMailData, serializeMailData } from '../../../src/domain/mail/data.ts';
import { renderKeyUnusable, renderMail } from '../../../src/domain/mail/render.ts';
import { MAIL_KINDS, MAILS, type MailData, type MailKind } from '../../../src/spec/mails.ts';

const PANEL = { baseUrl: 'https://panel.example' };
const LINE_MAX_CHARS = 78;

const at = (text: string) => new Date(`${text}Z`);
const NOW = at('2026-03-01T12:30:45');
const LATER = at('2026-03-08T12:30:45');

/** A name that would like to be a header, a line of its own, invisible, or endless. */
const HOSTILE = `web-1\r\nBcc: all@example.org\r\n\r\nNow pay\u2028here\u202e\u0000\ud800 ${'🦭'.repeat(400)}`;

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
    price_change: { plan: name, oldMonthCents: 500n, newMonthCents: 600n, from: LATER, servers },
    webhook_paused: { webhook: 'whk_abc', url: `https://hooks.example/${name}`, pausedAt: NOW },
    topup_credited: {
      ...{ topup: 'top_abc', coin: name, creditedCents: 10_000n, bonusCents: 3_000n },
      ...{ balanceCents: 13_000n, creditedAt: NOW },
    },
    new_sign_in: { signedInAt: NOW, country: 'IS' },
    confirm_address: { path: '/confirm?token=abc', expiresAt: LATER },
    address_changed: { changedAt: NOW, undo: { path: '/undo?token=abc', expiresAt: LATER } },
    reset_password: { path: '/reset?token=abc', requestedAt: NOW, expiresAt: LATER, country: 'XX' },
    password_changed: { changedAt: NOW, country: 'IS' },
    openpgp_key_changed: { changedAt: NOW, fingerprint: 'AB12'.repeat(10), country: 'XX' },
    totp_changed: { changedAt: NOW, on: true, by: 'customer', country: 'IS' },
    account_deleted: { deletedAt: NOW },
  };
}

function render<Kind extends MailKind>(kind: Kind, data: MailData[Kind]) {
  return renderMail(kind, parseMailData(kind, serializeMailData(data)), PANEL);
}

/** What each must say, wherever its lines break. */
const EXPECTED_PHRASES: Record<MailKind, readonly string[]> = {
  low_balance: [
    'Balance too low to renew web-1',
    ...[
      'paid until 2026-03-08 12:30 UTC',
      '3 months at USD 11.25',
      'balance is USD 12.34',
      'USD 20.00 in all',
    ],
    ...[
      'USD 7.66 are missing',
      'top up USD 30.00 or more (the smallest top-up) before',
      'https://panel.example/topup?amount=30.00',
    ],
  ],
  server_ends: [
    'web-1 is not renewed',
    'paid until 2026-03-08 12:30 UTC',
    'pays USD 11.25 for 3 months',
    'https://panel.example/servers',
  ],
  server_suspended: [
    'Suspended: web-1',
    ...[
      'at 2026-03-01 12:30 UTC',
      'USD -0.50 could not pay',
      'top up USD 30.00 or more (the smallest top-up). It resumes',
      'topup?amount=30.00',
      'at 2026-03-08 12:30 UTC, it is destroyed',
    ],
  ],
  destruction_warning: [
    'web-1 will be destroyed in 1 day',
    ...[
      'destroyed at 2026-03-08 12:30 UTC',
      'charges USD 11.25 for 3 months',
      'https://panel.example/servers',
    ],
  ],
  server_destroyed: [
    'Destroyed: web-1',
    'was destroyed at 2026-03-08 12:30 UTC',
    'volumes and snapshots are still yours',
  ],
  price_change: [
    'New price for plan web-1 from 2026-03-08',
    ...[
      'USD 6.00 a month',
      'USD 5.00',
      '* b: USD 36.00 for 12 months instead of USD 30.00, first at 2026-03-08 12:30 UTC',
    ],
  ],
  webhook_paused: [
    'A webhook was paused',
    'whk_abc',
    'https://hooks.example/web-1',
    '410',
    '2026-03-01 12:30 UTC',
  ],
  topup_credited: ['Top-up credited: USD 100.00', 'bonus of USD 30.00', 'balance was USD 130.00', 'top_abc'],
  new_sign_in: ['New sign-in', '2026-03-01 12:30 UTC, from Iceland', 'https://panel.example/account'],
  confirm_address: ['Confirm', 'https://panel.example/confirm?token=abc', 'until 2026-03-08 12:30 UTC'],
  address_changed: ['address', '2026-03-01 12:30 UTC', 'https://panel.example/undo?token=abc'],
  reset_password: ['Set a new password', 'an unknown country', 'https://panel.example/reset?token=abc'],
  password_changed: [
    'The password of your account was changed at 2026-03-01 12:30 UTC, from Iceland',
    'https://panel.example/reset',
  ],
  openpgp_key_changed: [
    'key of your account was set',
    '2026-03-01 12:30 UTC, from an unknown country',
    'AB12'.repeat(10),
    'https://panel.example/reset',
    'https://panel.example/account',
  ],
  totp_changed: [
    'asks for one-time codes now',
    'switched on for your account at 2026-03-01 12:30 UTC, from Iceland',
    'with your recovery code',
    'https://panel.example/',
  ],
  account_deleted: ['Your account was deleted', '2026-03-01 12:30 UTC'],
};

describe('mails', () => {
  for (const kind of MAIL_KINDS) {
    it(`${kind} says what happened, when, and what to do`, () => {
      const { subject, text } = render(kind, sample('web-1')[kind]);
      const said = `${subject} ${text}`.replaceAll('\n', ' ');
      for (const words of EXPECTED_PHRASES[kind])
        assert.ok(said.includes(words), `${words}\n${subject}\n${text}`);
      assert.doesNotMatch(said, /undefined|NaN|null|\[object|\d{4}-\d\d-\d\dT/);
      assert.match(text, /\n\n-- \nhttps:\/\/panel\.example\/\n/);
      assert.ok(text.endsWith('\n'));
      if (kind.startsWith('server') || kind !== 'webhook_paused') {
        for (const line of text.split('\n')) assert.ok(line.length <= LINE_MAX_CHARS, line);
      }
    });

    it(`${kind} is not broken by a hostile name`, () => {
      const { subject, text } = render(kind, sample(HOSTILE)[kind]);
      assert.doesNotMatch(subject, /[\p{C}\p{Zl}\p{Zp}]/u);
      assert.ok([...subject].length <= 120, subject);
      assert.doesNotMatch(text.replaceAll('\n', ''), /[\p{C}\p{Zl}\p{Zp}]/u);
      assert.doesNotMatch(text, /^Bcc/m);
      assert.ok(text.length < 3_000);
    });
  }

  it('a suspension by the operator says so, and only so', () => {
    const data = { ...sample('web-1').server_suspended, reason: 'operator' as const, destroyAt: null };
    const { text } = render('server_suspended', { ...data, note: 'abuse case 17\r\nBcc: x' });
    const said = text.replaceAll('\n', ' ');
    assert.match(said, /The operator writes: abuse case 17 Bcc: x/);
    assert.match(said, /Only the operator can lift this/);
    assert.doesNotMatch(said, /top up|destroyed/i);
  });

  it('where more is missing than the smallest top-up, that is what to top up', () => {
    const data = { ...sample('web-1').destruction_warning, reason: 'balance' as const, priceCents: 3_200n };
    const { text } = render('destruction_warning', data);
    assert.match(text.replaceAll('\n', ' '), /top up USD 32\.50 or more\. It resumes.*topup\?amount=32\.50/);
  });

  it('a key that was removed has no fingerprint', () => {
    const { subject, text } = render('openpgp_key_changed', {
      ...{ changedAt: NOW, fingerprint: null, country: 'IS' },
    });
    assert.match(subject, /removed$/);
    assert.match(
      text.replaceAll('\n', ' '),
      /removed at 2026-03-01 12:30 UTC, from Iceland\. Mails to you are no longer/,
    );
  });

  it('one-time codes that were switched off say by what', () => {
    const off = (by: MailData['totp_changed']['by']) =>
      render('totp_changed', { changedAt: NOW, on: false, by, country: 'IS' }).text.replaceAll('\n', ' ');
    assert.match(off('customer'), /switched off for your account at 2026-03-01 12:30 UTC, from Iceland\./);
    assert.match(
      off('recovery_code'),
      /from Iceland, by its recovery code\..*https:\/\/panel\.example\/reset/,
    );
    assert.match(off('operator'), /12:30 UTC by the operator/);
    assert.doesNotMatch(off('operator'), /Iceland/);
  });

  it('a change of address that was taken back says where the account is now', () => {
    const { text } = render('address_changed', { changedAt: NOW, undo: null });
    assert.match(
      text.replaceAll('\n', ' '),
      /to the one that it had before[\s\S]*your recovery code and the address/,
    );
    assert.doesNotMatch(text, /works once/);
  });

  it('what is bound to a time says when it goes stale', () => {
    const data = sample('web-1');
    const stale = MAIL_KINDS.filter((kind) => MAILS[kind].staleAt !== undefined);
    assert.deepEqual(stale, [
      'low_balance',
      'server_ends',
      'destruction_warning',
      'confirm_address',
      'reset_password',
    ]);
    assert.deepEqual(MAILS.reset_password.staleAt?.(data.reset_password), LATER);
  });

  it('the notice to one whose key cannot be used says nothing else', () => {
    const { subject, text } = renderKeyUnusable(PANEL);
    assert.match(text, /https:\/\/panel\.example\/account/);
    assert.doesNotMatch(`${subject}${text}`, /USD|UTC|server/);
  });
});
