/**
 * All data stored about one customer, for the operator to export. Digests, hashes and other sealed values
 * than the texts of tickets are left out.
 */
import type { Sql } from '../../kernel/sql.ts';
import { SEALED } from '../../spec/sealed.ts';
import { type ExportSection, MACHINE_SECTIONS } from './export-machines.ts';

export type { ExportSection };

export const EXPORT_SECTIONS: readonly ExportSection[] = [
  {
    name: 'account',
    ids: { id: 'customer' },
    rows: `select c.id, public_no, email, email_confirmed_at, openpgp_key, openpgp_fingerprint, openpgp_since,
             frozen_at, (select confirmed_at from totp_secrets t where t.customer_id = c.id) as totp_since,
             shortcuts_off_at, news_off_at, deleting_at, c.created_at, balance_cents, own_limits
             from customers c join balances b on b.customer_id = c.id where c.id = $1`,
  },
  {
    name: 'sessions',
    ids: { id: 'session' },
    rows: 'select id, created_at, seen_at from sessions where customer_id = $1 order by created_at',
  },
  {
    name: 'mail_links',
    ids: {},
    rows: `select purpose, email, created_at, expires_at, used_at from mail_links where customer_id = $1
            order by created_at`,
  },
  {
    name: 'api_tokens',
    ids: { id: 'token', created_by_token: 'token', limit_chain: 'token' },
    rows: `select id, name, scope, last_used_at, expires_at, created_by_token, limit_chain, limits,
                  ip_cidrs_sealed is not null as ip_limited, spend_limit_cents, spend_period, spent_cents,
                  servers_limit, created_at
             from api_tokens where customer_id = $1 order by created_at`,
  },
  {
    name: 'ssh_keys',
    ids: { id: 'sshKey' },
    rows: `select id, name, type, fingerprint, public_key, created_at from ssh_keys where customer_id = $1
            order by created_at`,
  },
  ...MACHINE_SECTIONS,
  {
    name: 'webhooks',
    ids: { id: 'webhook' },
    rows: `select id, url, events, active, paused_reason, scope, secret_hint, next_secret_hint, reach,
                  created_at
             from webhooks where customer_id = $1 order by created_at`,
  },
  {
    name: 'webhook_deliveries',
    ids: { delivery_id: 'delivery', webhook_id: 'webhook', event_id: 'event' },
    rows: `select d.delivery_id, d.webhook_id, d.event_id, d.event_type, d.event_data, d.attempt, d.status,
             d.http_status, d.error, d.duration_ms, d.attempted_at, d.next_attempt_at, d.created_at
             from webhooks w join deliveries d on d.webhook_id = w.id where w.customer_id = $1`,
  },
  {
    name: 'ledger',
    ids: { id: 'ledgerEntry', server_id: 'server', topup_id: 'topup', reverses: 'ledgerEntry' },
    rows: `select id, type,
             case when credit_account = customer_id then amount_cents else -amount_cents end as amount_cents,
             balance_after_cents, case resource_kind when 'server' then resource_id end as server_id,
             case resource_kind when 'topup' then resource_id end as topup_id, description, reverses,
             created_at
             from transfers where customer_id = $1 order by booked_at`,
  },
  {
    name: 'topups',
    ids: { id: 'topup' },
    rows: `select id, public_no, order_ref, coin, amount_cents, bonus_cents, deposit_address,
             deposit_units::text, rate_usd, required_confirmations, status, cancelled_at, credit_held,
             confirmations, credited_cents, bonus_paid_cents, expires_at, created_at
             from topups where customer_id = $1 order by created_at, id`,
  },
  {
    name: 'payments',
    ids: { topup_id: 'topup' },
    rows: `select d.topup_id, d.coin, d.txid, d.key, d.amount_units::text, d.state, d.confirmations,
             d.height, d.block_hash, d.included_at, d.rate_at_inclusion, d.held, d.refunded_at, d.refund_note,
             d.refund_address, d.refund_txid, d.credited_cents, d.first_seen_at
             from topups t join deposits d on d.topup_id = t.id where t.customer_id = $1`,
  },
  {
    name: 'events',
    ids: { id: 'event' },
    rows: 'select id, seq, type, data, created_at from events where customer_id = $1 order by place',
  },
  {
    name: 'passkeys',
    ids: { id: 'passkey' },
    rows: `select id, name, transports, created_at, last_used_at from passkeys where customer_id = $1
            order by created_at`,
  },
  {
    name: 'mails',
    ids: { id: 'mail' },
    rows: `select id, kind, to_address, status, sent_at, created_at from mails where customer_id = $1
            order by created_at, id`,
  },
  {
    name: 'order_drafts',
    ids: { id: 'orderDraft' },
    rows: 'select id, created_at, expires_at from order_drafts where customer_id = $1 order by created_at',
  },
  {
    name: 'saved_filters',
    ids: { id: 'savedFilter' },
    rows: 'select id, name, query, created_at from saved_filters where customer_id = $1 order by name',
  },
  {
    name: 'coupons',
    ids: {},
    rows: `select code, amount_cents, redeemed_at from coupon_redemptions join coupons on id = coupon_id
            where customer_id = $1 order by redeemed_at, code`,
  },
  {
    name: 'mailings',
    ids: { id: 'mailing' },
    rows: `select id, m.kind, subject, r.status, m.created_at
             from mailing_recipients r join mailings m on m.id = r.mailing_id
            where r.customer_id = $1 order by m.id`,
  },
  {
    name: 'dismissed_announcements',
    ids: { id: 'announcement' },
    rows: `select id, title, dismissed_at
             from announcement_dismissals join announcements on id = announcement_id
            where customer_id = $1 order by dismissed_at, id`,
  },
  {
    name: 'tickets',
    ids: { id: 'ticket' },
    opens: {
      subject_sealed: ['subject', SEALED.ticketSubject, 'utf8'],
      mail_id_sealed: ['last_mail', SEALED.ticketMail, 'utf8'],
    },
    rows: `select id, subject_sealed, status, category, answer_by, created_at, updated_at, closed_at,
                  mail_id_sealed from tickets
            where customer_id = $1 order by created_at, id`,
  },
  {
    name: 'ticket_messages',
    ids: { id: 'ticketMessage', ticket_id: 'ticket' },
    opens: { text_sealed: ['text', SEALED.ticketText, 'utf8'] },
    rows: `select m.id, m.ticket_id, m.author, m.text_sealed, m.created_at
             from tickets t join ticket_messages m on m.ticket_id = t.id
            where t.customer_id = $1 order by m.id`,
  },
  {
    name: 'ticket_files',
    batch: SEALED.ticketFile.batch,
    ids: { id: 'ticketFile', message_id: 'ticketMessage' },
    opens: { content_sealed: ['content_base64', SEALED.ticketFile, 'base64'] },
    rows: `select f.id, f.message_id, f.name, f.type, f.size_bytes, f.content_sealed
             from tickets t join ticket_messages m on m.ticket_id = t.id
             join ticket_files f on f.message_id = m.id
            where t.customer_id = $1 order by f.id`,
  },
  {
    // Those that we sent to the customer. The evidence that they may read is in the ticket.
    name: 'abuse_reports',
    ids: { id: 'abuseReport', server_id: 'server', ticket_id: 'ticket' },
    opens: { address_sealed: ['address', SEALED.abuseAddress, 'utf8'] },
    rows: `select id, kind, state, result, address_sealed, happened_at, server_id, ticket_id, due_at,
                  suspended_at, forwarded_at, answered_at, closed_at
             from abuse_reports where customer_id = $1 and forwarded_at is not null order by id`,
  },
  {
    name: 'staff_notes',
    ids: { id: 'customerNote' },
    // Without the author: the name of a person is their data, not the customer's.
    rows: 'select id, text, created_at from customer_notes where customer_id = $1 order by id',
  },
  {
    name: 'staff_tags',
    ids: {},
    rows: 'select tag from customer_tags where customer_id = $1 order by tag',
  },
  {
    name: 'kept_answers',
    ids: {},
    rows: 'select request_id, status, created_at from idempotency where customer_id = $1',
  },
  {
    name: 'audit_events',
    ids: { id: 'audit', actor_token: 'token', actor_session: 'session' },
    rows: `select id, action, resource, actor_token, actor_session, request_id, ip_country, result, created_at
             from audit_events where customer_id = $1 order by created_at, id`,
  },
];

const BATCH_SIZE = 500;

/**
 * Passes the rows of a section to `onRow` in batches, in the caller's transaction: memory holds one batch at
 * most.
 */
export async function readSection(
  tx: Sql,
  section: ExportSection,
  customerId: string,
  onRow: (row: Record<string, unknown>) => Promise<void>,
): Promise<void> {
  await tx.run(
    `declare export no scroll cursor for
     select to_jsonb(of_customer) as row from (${section.rows}) as of_customer`,
    [customerId],
  );
  const { batch = BATCH_SIZE } = section;
  for (;;) {
    const rows = await tx.rows<{ row: Record<string, unknown> }>(`fetch ${batch} from export`);
    for (const { row } of rows) await onRow(row);
    if (rows.length < batch) break;
  }
  await tx.run('close export');
}
