/** Files of tickets: recognized by their content, bounded, and sealed. */
import { fail } from '../../../kernel/fail.ts';
import { newId } from '../../../kernel/ids.ts';
import { LIMITS } from '../../../spec/limits.ts';
import { TICKET_FILE_TYPES, type Ticket } from '../../../spec/schemas/ticket.ts';
import { SEALED } from '../../../spec/sealed.ts';
import {
  insertTicketFile,
  listTicketFiles,
  setTicketStatus,
  sumTicketFileBytes,
} from '../../../store/customers/tickets.ts';
import type { CustomerActor, Service } from '../../context.ts';
import { changeTicket, requireWritingLimit } from './change.ts';
import { cleanFileName, recognizeFile } from './file-types.ts';
import { addMessage } from './text.ts';

const FILE_RULES = {
  types: TICKET_FILE_TYPES,
  maxBytes: LIMITS.ticketFileMaxBytes,
  refusal: 'Send a PNG or JPEG image, or a plain text file in UTF-8.',
};

export interface NewTicketFile {
  /** As the customer calls it; may be empty. */
  readonly name: string;
  readonly content: Buffer;
}

/** Adds a message of the customer with a file. Fails with `invalid_value` and `limit_reached`. */
export async function attachToTicket(
  service: Service,
  actor: CustomerActor,
  shownId: string,
  { name: wanted, content }: NewTicketFile,
): Promise<Ticket> {
  const type = recognizeFile(content, FILE_RULES);
  const name = cleanFileName(wanted, type, LIMITS.ticketFileNameMaxChars);
  return await changeTicket(service, actor, { shownId, action: 'ticket.attach' }, async (tx, row, now) => {
    await requireWritingLimit(tx, row.customer_id, now);
    const limit = LIMITS.ticketFilesMax;
    if ((await listTicketFiles(tx, row.id)).length >= limit) {
      fail('limit_reached', { limit }, `A ticket can have ${limit} files. Open a new one.`);
    }
    const maxBytes = LIMITS.ticketFilesMaxBytes;
    if ((await sumTicketFileBytes(tx, row.customer_id)) + content.length > maxBytes) {
      const mib = maxBytes / 1024 ** 2;
      fail('limit_reached', { limit: maxBytes }, `The files of your tickets can have ${mib} MiB in total.`);
    }
    const text = `Attached ${name}.`;
    const message = { ticket_id: row.id, author: 'customer', staff_id: null, text } as const;
    const messageId = await addMessage(tx, service, message, now);
    const id = newId(now);
    await insertTicketFile(tx, {
      ...{ id, message_id: messageId, name, type, size_bytes: content.length },
      content_sealed: service.keys.seal(SEALED.ticketFile, id, content),
    });
    await setTicketStatus(tx, { id: row.id, status: 'open', now });
  });
}
