/** Files of tickets: recognized by their content, bounded, and sealed. */
import { fail } from '../../../kernel/fail.ts';
import { newId } from '../../../kernel/ids.ts';
import type { Sql } from '../../../kernel/sql.ts';
import { LIMITS } from '../../../spec/limits.ts';
import { TICKET_UPLOAD_TYPES, type Ticket, type TicketFileType } from '../../../spec/schemas/ticket.ts';
import { SEALED } from '../../../spec/sealed.ts';
import {
  insertTicketFile,
  setTicketStatus,
  sumOwnFiles,
  type TicketRow,
} from '../../../store/customers/tickets.ts';
import type { CustomerActor, Service } from '../../context.ts';
import { changeTicket, requireWritingLimit } from './change.ts';
import { cleanFileName, recognizeFile } from './file-types.ts';
import { addMessage } from './text.ts';

const FILE_RULES = {
  types: TICKET_UPLOAD_TYPES,
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
  sent: NewTicketFile,
): Promise<Ticket> {
  const file = recognizeTicketFile(sent);
  return await changeTicket(service, actor, { shownId, action: 'ticket.attach' }, async (tx, row, now) => {
    await requireWritingLimit(tx, row.customer_id, now);
    const room = await readFileRoom(tx, row);
    if (room.files <= 0) {
      const limit = LIMITS.ticketFilesMax;
      fail('limit_reached', { limit }, `A ticket can have ${limit} files. Open a new one.`);
    }
    if (file.content.length > room.bytes) {
      const maxBytes = LIMITS.ticketFilesMaxBytes;
      const mib = maxBytes / 1024 ** 2;
      fail('limit_reached', { limit: maxBytes }, `The files of your tickets can have ${mib} MiB in total.`);
    }
    const text = `Attached ${file.name}.`;
    const message = { ticket_id: row.id, author: 'customer', staff_id: null, text } as const;
    const messageId = await addMessage(tx, service, message, now);
    await storeFile(tx, service, { messageId, file }, now);
    await setTicketStatus(tx, { id: row.id, status: 'open', now });
  });
}

export interface RecognizedFile<Type = TicketFileType> extends NewTicketFile {
  readonly type: Type;
}

/** The file with its type and a clean name. Fails with `invalid_value`. */
export function recognizeTicketFile({ name, content }: NewTicketFile): RecognizedFile {
  const type = recognizeFile(content, FILE_RULES);
  return { name: cleanFileName(name, type, LIMITS.ticketFileNameMaxChars), type, content };
}

/** Files of the customer that a ticket can still have. */
export interface FileRoom {
  readonly files: number;
  readonly bytes: number;
}

/** The caller holds the locks of the customer and the ticket. */
export async function readFileRoom(
  tx: Sql,
  { id, customer_id: customerId }: Pick<TicketRow, 'id' | 'customer_id'>,
): Promise<FileRoom> {
  const { files, bytes } = await sumOwnFiles(tx, { ticketId: id, customerId });
  return { files: LIMITS.ticketFilesMax - files, bytes: LIMITS.ticketFilesMaxBytes - bytes };
}

export async function storeFile(
  tx: Sql,
  { keys }: Pick<Service, 'keys'>,
  { messageId, file }: { readonly messageId: string; readonly file: RecognizedFile },
  now: Date,
): Promise<void> {
  const id = newId(now);
  const { name, type, content } = file;
  await insertTicketFile(tx, {
    ...{ id, message_id: messageId, name, type, size_bytes: content.length },
    content_sealed: keys.seal(SEALED.ticketFile, id, content),
  });
}
