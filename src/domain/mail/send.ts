/**
 * Sends one mail: at most once after handover, with retries before it.
 *
 * A worker marks the row `sending` before the mailer passes the first byte that could cause a delivery
 * (`handOver`). A worker that claims a row with that mark knows that its predecessor died or lost the
 * connection in between. It cannot know if the mail arrived, so it does not send again and records
 * `unknown`. Every other failure is certain: the mail waits from a minute to a day on the business clock,
 * and a permanent rejection (5xx) ends it.
 *
 * None of this affects the business transaction that queued the mail.
 */
import { BACKOFF, backoffMs } from '../../kernel/backoff.ts';
import { formatId } from '../../kernel/ids.ts';
import { DAY_MS } from '../../kernel/time.ts';
import type { MailOutcome } from '../../ports/mail.ts';
import { LIMITS } from '../../spec/limits.ts';
import { MAILS } from '../../spec/mails/kinds.ts';
import {
  delayMail,
  findMailRecipient,
  finishMail,
  type MailFault,
  type MailRecipientRow,
  type MailRow,
  markMailSending,
} from '../../store/mails.ts';
import type { Service } from '../context.ts';
import { composeMail, type Recipient } from './render.ts';

/** After this many deferrals by a reachable server, about five days, the mail has failed. */
const DEFERRALS_MAX = 10;

/** Advances a claimed mail as far as possible. True if a server that was unreachable has accepted it. */
export async function sendMail(service: Service, mail: MailRow): Promise<boolean> {
  const outcome = await attemptSend(service, mail);
  if (outcome !== null) await recordOutcome(service, mail, outcome);
  return outcome?.outcome === 'sent' && mail.fault === 'unreachable';
}

/** Returns the outcome of the attempt, or null if none was made and the row is already up to date. */
async function attemptSend(service: Service, mail: MailRow): Promise<MailOutcome | null> {
  const recorded = (update: Promise<void>) => update.then(() => null);
  if (mail.status === 'sending') return await recorded(closeMail(service, mail, 'unknown'));
  const { mailer } = service;
  const now = service.clock.now();
  const recipient = await findRecipient(service, mail);
  if (!mailer || !recipient) return await recorded(closeMail(service, mail, 'dropped'));
  if (mail.stale_at !== null && mail.stale_at <= now)
    return await recorded(closeMail(service, mail, 'stale'));
  const outgoing = await composeMail(service, mail, recipient).catch((error: unknown) => {
    service.log.error({ err: error, ...logFields(mail) }, 'rendering the mail failed');
    return null;
  });
  if (!outgoing) return await recorded(postponeMail(service, mail, 'unrenderable'));
  return await mailer.send(outgoing, () => markMailSending(service.db, mail));
}

async function findRecipient(service: Service, mail: MailRow): Promise<Recipient | undefined> {
  const customer = await findMailRecipient(service.db, mail.customer_id);
  const to = mail.to_address;
  if (customer) return { address: to ?? customer.email, openPgpKey: recipientKey(mail, customer) };
  return MAILS[mail.kind].outlivesCustomer && to !== null ? { address: to, openPgpKey: null } : undefined;
}

/**
 * An attacker with the password could set their own key first, so a new key must not hide a security
 * notice.
 */
function recipientKey(
  mail: MailRow,
  { openpgp_key: key, openpgp_since: since }: MailRecipientRow,
): string | null {
  const trustedMs = mail.created_at.getTime() - LIMITS.openPgpKeyTrustedDays * DAY_MS;
  const isNew = since !== null && since.getTime() > trustedMs;
  return MAILS[mail.kind].mustBeRead && isNew ? null : key;
}

async function recordOutcome(service: Service, mail: MailRow, outcome: MailOutcome): Promise<void> {
  switch (outcome.outcome) {
    case 'taken':
      return;
    case 'sent':
      return await closeMail(service, mail, 'sent');
    case 'unknown':
      return await closeMail(service, mail, 'unknown', undefined, outcome.detail);
    case 'refused':
      return await closeMail(service, mail, 'failed', 'refused', outcome.detail);
    default:
      return await postponeMail(service, mail, outcome.outcome, outcome.detail);
  }
}

async function postponeMail(
  service: Service,
  mail: MailRow,
  fault: MailFault,
  detail?: string,
): Promise<void> {
  const attempts = mail.fault === fault ? mail.attempts + 1 : 1;
  if (fault !== 'unreachable' && attempts >= DEFERRALS_MAX) {
    return await closeMail(service, mail, 'failed', fault, detail);
  }
  service.log.warn({ ...logFields(mail), fault, detail, attempts }, 'mail delivery postponed');
  const dueAt = new Date(service.clock.now().getTime() + backoffMs(BACKOFF.mail, attempts));
  await delayMail(service.db, mail, { dueAt, attempts, fault });
}

async function closeMail(
  service: Service,
  mail: MailRow,
  status: 'sent' | 'failed' | 'unknown' | 'stale' | 'dropped',
  fault?: MailFault,
  detail?: string,
): Promise<void> {
  if (status !== 'sent' && status !== 'dropped') {
    service.log.warn(
      { ...logFields(mail), status, fault, detail },
      'mail was not delivered, or delivery is unknown',
    );
  }
  await finishMail(service.db, mail, {
    status,
    ...(fault === undefined ? {} : { fault }),
    ...(status === 'sent' ? { sentAt: service.clock.now() } : {}),
  });
}

/** Fields for the log that do not identify the recipient. */
function logFields(mail: MailRow): { mail: string; kind: string } {
  return { mail: formatId('mail', mail.id), kind: mail.kind };
}
