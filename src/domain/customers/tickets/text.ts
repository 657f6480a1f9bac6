/** Texts of tickets: cleaned, bounded, and sealed. */
import { fail, invalidRequest } from '../../../kernel/fail.ts';
import { newId } from '../../../kernel/ids.ts';
import type { Sql } from '../../../kernel/sql.ts';
import { LIMITS } from '../../../spec/limits.ts';
import { SEALED } from '../../../spec/sealed.ts';
import {
  countTicketMessages,
  insertTicketMessage,
  type TicketMessageRow,
} from '../../../store/customers/tickets.ts';
import type { Service } from '../../context.ts';

/** Removes control characters, which a terminal would obey. Fails with `invalid_request` on empty text. */
export function cleanText(text: string, field = 'text'): string {
  const clean = text
    .replace(/\r\n?/g, '\n')
    .replace(/[^\P{Cc}\n\t]/gu, '')
    .trim();
  if (clean === '') invalidRequest([{ field, issue: 'required' }]);
  return clean;
}

/** One line. */
export function cleanSubject(text: string): string {
  return cleanText(text.replace(/\s+/gu, ' '), 'subject');
}

/** Adds a message to a locked ticket. Fails with `limit_reached`. Returns its id. */
export async function addMessage(
  tx: Sql,
  { keys }: Pick<Service, 'keys'>,
  message: Pick<TicketMessageRow, 'ticket_id' | 'author' | 'staff_id'> & { readonly text: string },
  now: Date,
): Promise<string> {
  const kept = message.author === 'customer' ? LIMITS.ticketMessagesForStaff : 0;
  const limit = LIMITS.ticketMessagesMax - kept;
  if ((await countTicketMessages(tx, message.ticket_id, limit)) >= limit) {
    fail('limit_reached', { limit }, `A ticket can have ${limit} messages. Open a new one.`);
  }
  const id = newId(now);
  const { text, ...row } = message;
  const sealed = keys.seal(SEALED.ticketText, id, text);
  await insertTicketMessage(tx, { id, ...row, text_sealed: sealed, created_at: now });
  return id;
}
