/**
 * Receives mail as messages of tickets. A mail counts as the customer's if the operator's mail server found
 * that it is from the domain of its sender, and that sender is the address of the account. To write in a
 * ticket, it also has to go to the address that only answers in the ticket name (decision 49).
 */
import { hash } from 'node:crypto';
import { domainToASCII, domainToUnicode } from 'node:url';
import { Failure } from '../../../../kernel/fail.ts';
import { formatId } from '../../../../kernel/ids.ts';
import { digest } from '../../../../kernel/secrets.ts';
import type { Sql } from '../../../../kernel/sql.ts';
import {
  type Delivery,
  type MailAnswer,
  type MailBody,
  type MailHeaders,
  type MailParser,
  UnreadableMail,
} from '../../../../ports/incoming-mail.ts';
import { LIMITS } from '../../../../spec/limits.ts';
import { SEALED } from '../../../../spec/sealed.ts';
import {
  type CustomerRow,
  findCustomerByEmail,
  lockCustomer,
} from '../../../../store/customers/customers.ts';
import {
  findTicket,
  insertTicketMail,
  lockTicket,
  setTicketMail,
  setTicketStatus,
  type TicketRow,
} from '../../../../store/customers/tickets.ts';
import { markReportAnswered } from '../../../../store/staff/abuse.ts';
import type { Service } from '../../../context.ts';
import { recordAudit, systemActor } from '../../../record.ts';
import { findBlock, findClosure, loadRules } from '../../../rules/rules.ts';
import { parseEmail } from '../../email/email.ts';
import { readFileRoom, storeFile } from '../attach.ts';
import { insertNewTicket, requireDailyLimits, requireWritingLimit } from '../change.ts';
import { addMessage } from '../text.ts';
import { readRecipient, type TicketRecipient, ticketAddress } from './address.ts';
import { authenticityOf } from './authentication.ts';
import {
  ACCEPTED,
  dropAutomatic,
  MailRefusal,
  postpone,
  refuse,
  refuseEncrypted,
  refuseWith,
} from './refusals.ts';
import { messageOf } from './text.ts';

/** An answer for each recipient, in their order. Never rejects; the log names no one. */
export async function receiveTicketMail(
  service: Service,
  parser: MailParser,
  delivery: Delivery,
): Promise<MailAnswer[]> {
  const answers = new Map<string, MailAnswer>();
  const all = (answer: MailAnswer) => delivery.recipients.map((each) => answers.get(each) ?? answer);
  try {
    requireSize(delivery);
    const head = await parser.readHeaders(delivery.bytes).catch(refuseUnreadable);
    dropAutomatic(head, delivery.sender);
    const customer = await requireSender(service, head);
    // Only customers can make us read a body, which may take seconds.
    const body = await parser.readBody(delivery.bytes).catch(refuseUnreadable);
    refuseEncrypted(head, body);
    const mail = { ...head, ...body, ...identify(head, delivery.bytes) };
    // A mail to a ticket and to the address of new ones opens none.
    const targets = delivery.recipients.map((address) => ({ address, to: readRecipient(service, address) }));
    const isNew = ({ to }: (typeof targets)[number]) => to?.ticketId === null;
    for (const target of [...targets.filter((each) => !isNew(each)), ...targets.filter(isNew)]) {
      const isInTicket = [...answers.values()].includes(ACCEPTED);
      const verb = () => store(service, mail, customer, target.to);
      answers.set(target.address, isInTicket && isNew(target) ? ACCEPTED : await answerOf(service, verb));
    }
    return all(TRY_LATER);
  } catch (error) {
    return all(toAnswer(service, error));
  }
}

async function answerOf(service: Service, verb: () => Promise<void>): Promise<MailAnswer> {
  try {
    await verb();
    return ACCEPTED;
  } catch (error) {
    return toAnswer(service, error);
  }
}

const TRY_LATER: MailAnswer = {
  outcome: 'later',
  status: '4.3.0',
  text: 'We could not store the mail. Try again later.',
};

function toAnswer({ log }: Service, error: unknown): MailAnswer {
  if (error instanceof MailRefusal) {
    log.info({ outcome: error.answer.outcome, reason: error.reason }, 'mail to tickets was not stored');
    return error.answer;
  }
  // Nothing of the mail is in the error that it logs.
  log.error({ err: error }, 'storing a mail to tickets failed');
  return TRY_LATER;
}

type ReadMail = MailHeaders & MailBody & ReturnType<typeof identify>;

function requireSize({ bytes }: Delivery): void {
  if (bytes.length <= LIMITS.ticketMailMaxBytes) return;
  const mib = Math.floor(LIMITS.ticketMailMaxBytes / 1024 ** 2);
  refuseWith('too large', '5.3.4', `The mail is too large. Send at most ${mib} MiB.`);
}

/** A fault of ours is no reason to lose the mail. */
function refuseUnreadable(error: unknown): never {
  if (!(error instanceof UnreadableMail)) throw error;
  refuseWith('unreadable', '5.6.0', 'We cannot read this mail. Sign in and write in the panel.');
}

/** `identity` tells the mail from others, even if it has no Message-ID. */
function identify(head: MailHeaders, bytes: Buffer) {
  const [id = ''] = headersOf(head, 'message-id');
  const messageId = /^<[!-;=?-~]{3,250}>$/.test(id.trim()) ? id.trim() : null;
  return { messageId, identity: messageId ?? hash('sha256', bytes) };
}

function headersOf({ headers }: MailHeaders, name: string): string[] {
  return headers.filter(({ key }) => key === name).map(({ value }) => value);
}

/** The account that the mail is from. */
async function requireSender(service: Service, mail: MailHeaders): Promise<CustomerRow> {
  const [address = '', ...others] = mail.from;
  const email = others.length === 0 ? parseEmail(address) : undefined;
  if (email === undefined) refuse('not one sender');
  const [local = '', host = ''] = email.key.split('@');
  const domain = domainToASCII(host);
  const server = service.settings.ticketMail?.authServer ?? '';
  const results = headersOf(mail, 'authentication-results');
  const authenticity = domain === '' ? 'unknown' : authenticityOf(results, server, domain);
  if (authenticity === 'undecided')
    postpone('not checked', '4.7.0', 'We could not check the sender of this mail. Try again later.');
  if (authenticity !== 'authentic') refuse('not authenticated');
  const customer =
    (await findCustomerByEmail(service.db, email.key)) ??
    (await findCustomerByEmail(service.db, `${local}@${domainToUnicode(domain)}`));
  if (!customer || customer.deleting_at !== null) refuse('no account');
  return customer;
}

async function store(
  service: Service,
  mail: ReadMail,
  customer: CustomerRow,
  to: TicketRecipient | undefined,
): Promise<void> {
  if (to === undefined) refuse('no ticket');
  // Someone else may have signed up with the sender's address: the ticket would be theirs.
  if (to.ticketId === null && customer.email_confirmed_at === null) refuse('address not confirmed');
  await requireAllowed(service, to.ticketId === null ? 'tickets.create' : 'tickets.reply');
  const customerId = customer.id;
  await service.db.transaction(async (tx) => {
    const now = service.clock.now();
    // The account may have another address since.
    const current = await lockCustomer(tx, customerId);
    if (current?.email_key !== customer.email_key) refuse('no account');
    const owned = to.ticketId === null ? null : await findTicket(tx, customerId, to.ticketId);
    const ticket = owned ? await lockTicket(tx, owned.id) : null;
    if (to.ticketId !== null && !ticket) refuse('no ticket');
    const key = digest([customerId, ticket?.id ?? '', mail.identity].join('\n'));
    // It was delivered before: the mail server did not get our answer.
    if (!(await insertTicketMail(tx, key, now))) return;
    if (ticket) await requireTime(() => requireWritingLimit(tx, customerId, now));
    else await requireTime(() => requireDailyLimits(tx, customerId, now));
    const subject = subjectOf(mail);
    const row = ticket ?? (await insertNewTicket(tx, service, { customerId, subject }, now));
    await addMail(tx, service, { mail, row }, now);
    if (ticket) {
      await setTicketStatus(tx, { id: row.id, status: 'open', now });
      await markReportAnswered(tx, row.id, now);
    }
    const actor = { ...systemActor(now), customerId };
    const action = ticket ? 'ticket.reply' : 'ticket.create';
    await recordAudit(tx, { actor, action, resource: formatId('ticket', row.id) }, now);
  });
}

/** Maintenance windows, switches, and legal orders hold for mail as for requests. */
async function requireAllowed(
  service: Service,
  operation: 'tickets.create' | 'tickets.reply',
): Promise<void> {
  const rules = await loadRules(service);
  if (findClosure(rules, operation, service.clock.now()))
    postpone('closed', '4.3.2', 'The service is closed for maintenance. Try again later.');
  if (findBlock(rules, { operation, country: 'XX', region: null }))
    refuseWith('legal order', '5.7.1', 'Because of a legal order, we do not accept this mail.');
}

/** The limits of a day: the mail server tries again. */
async function requireTime(check: () => Promise<void>): Promise<void> {
  try {
    await check();
  } catch (error) {
    if (error instanceof Failure) postpone('too many messages', '4.7.1', error.message);
    throw error;
  }
}

function subjectOf({ subject }: MailHeaders): string {
  const clean = subject.replace(/[\p{C}\p{Zl}\p{Zp}\s]+/gu, ' ').trim();
  return [...clean].slice(0, LIMITS.ticketSubjectMaxChars).join('').trim() || 'No subject';
}

/** Adds the message with its files. A ticket that is full gets no more. */
async function addMail(
  tx: Sql,
  service: Service,
  { mail, row }: { readonly mail: ReadMail; readonly row: TicketRow },
  now: Date,
): Promise<void> {
  const { address, sender } = service.settings.ticketMail ?? {};
  const addresses = [address, sender, ticketAddress(service, row.id)];
  const ours = addresses.flatMap((each) => (each ? [each.toLowerCase()] : []));
  const message = messageOf(mail, ours, await readFileRoom(tx, row));
  if (message === null) refuseWith('empty', '5.6.0', 'The mail has no text and no files.');
  const { text, files } = message;
  const written = { ticket_id: row.id, author: 'customer', staff_id: null, text } as const;
  const messageId = await addMessage(tx, service, written, now).catch((error: unknown) => {
    if (error instanceof Failure) refuseWith('ticket full', '5.2.2', error.message);
    throw error;
  });
  for (const file of files) await storeFile(tx, service, { messageId, file }, now);
  if (mail.messageId === null) return;
  await setTicketMail(tx, row.id, service.keys.seal(SEALED.ticketMail, row.id, mail.messageId));
}
