/**
 * Sending one mail. The rule is at most once from the moment it is given away, and again and again before that.
 *
 * A holder notes `sending` before the mailer passes the first byte that could lead to a delivery (`handOver`). Who claims a
 * row and finds that note knows that its holder died or was cut off in between, and cannot know whether the mail arrived:
 * it is not sent again, and counted as `unknown`. Every other failure is a sure one. The mail then waits, from a minute to
 * a day on the business clock, and what was refused for good (5xx) is over.
 *
 * A business transaction never hears of any of this.
 */
import { crashPoint } from '../../kernel/crash.ts';
import { formatId } from '../../kernel/ids.ts';
import { DAY_MS, MINUTE_MS } from '../../kernel/time.ts';
import type { MailOutcome } from '../../ports/mail.ts';
import { LIMITS } from '../../spec/limits.ts';
import { MAILS } from '../../spec/mails.ts';
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
import { composeMail, type Recipient } from './compose.ts';

/** Waits after the first, second, … failure in a row; the last one from then on. */
const RETRY_DELAYS_MINUTES = [1, 5, 15, 60, 4 * 60, 12 * 60, 24 * 60] as const;
/** So often the same mail is put off by a server that takes others: some five days. Then it has failed. */
const DEFERRALS_MAX = 10;

/** Takes a claimed mail as far as it gets now. True when the server took it that was away when it was tried before. */
export async function sendMail(service: Service, mail: MailRow): Promise<boolean> {
  const outcome = await attemptSend(service, mail);
  if (outcome !== null) await recordOutcome(service, mail, outcome);
  return outcome?.outcome === 'sent' && mail.fault === 'unreachable';
}

/** Null: it did not come to that, and is put down. */
async function attemptSend(service: Service, mail: MailRow): Promise<MailOutcome | null> {
  const putDown = (done: Promise<void>) => done.then(() => null);
  if (mail.status === 'sending') return await putDown(closeMail(service, mail, 'unknown'));
  const { mailer } = service;
  const now = service.clock.now();
  const receiver = await findRecipient(service, mail);
  if (!mailer || !receiver) return await putDown(closeMail(service, mail, 'dropped'));
  if (mail.stale_at !== null && mail.stale_at <= now) return await putDown(closeMail(service, mail, 'stale'));
  const outgoing = await composeMail(service, mail, receiver).catch((error: unknown) => {
    service.log.error({ err: error, ...logFields(mail) }, 'a mail could not be written');
    return null;
  });
  if (!outgoing) return await putDown(postponeMail(service, mail, 'unrenderable'));
  const outcome = await mailer.send(outgoing, async () => {
    const isOurs = await markMailSending(service.db, mail);
    if (isOurs) crashPoint('mail.handed_over');
    return isOurs;
  });
  if (outcome.outcome === 'sent') crashPoint('mail.sent');
  return outcome;
}

async function findRecipient(service: Service, mail: MailRow): Promise<Recipient | undefined> {
  const customer = await findMailRecipient(service.db, mail.customer_id);
  const to = mail.to_address;
  if (customer) return { address: to ?? customer.email, openPgpKey: recipientKey(mail, customer) };
  return MAILS[mail.kind].outlivesCustomer && to !== null ? { address: to, openPgpKey: null } : undefined;
}

/** A thief who has the password can set a key of his own before he does what the owner must hear of. */
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
  service.log.warn({ ...logFields(mail), fault, detail, attempts }, 'a mail is put off');
  const minutes = RETRY_DELAYS_MINUTES[Math.min(attempts, RETRY_DELAYS_MINUTES.length) - 1] ?? 1;
  const dueAt = new Date(service.clock.now().getTime() + minutes * MINUTE_MS);
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
    service.log.warn({ ...logFields(mail), status, fault, detail }, 'a mail was not sent, or perhaps not');
  }
  await finishMail(service.db, mail, {
    status,
    ...(fault === undefined ? {} : { fault }),
    ...(status === 'sent' ? { sentAt: service.clock.now() } : {}),
  });
}

/** For the log: nothing that says whom it is for. */
function logFields(mail: MailRow): { mail: string; kind: string } {
  return { mail: formatId('mail', mail.id), kind: mail.kind };
}
