/** Files of tickets: recognized by their content, bounded, and sealed. */
import { fail } from '../../../kernel/fail.ts';
import { newId } from '../../../kernel/ids.ts';
import type { Sql } from '../../../kernel/sql.ts';
import { LIMITS } from '../../../spec/limits.ts';
import type { Ticket, TicketFileType } from '../../../spec/schemas/ticket.ts';
import { SEALED } from '../../../spec/sealed.ts';
import {
  insertTicketFile,
  listTicketFiles,
  setTicketStatus,
  sumTicketFileBytes,
  type TicketRow,
} from '../../../store/customers/tickets.ts';
import type { CustomerActor, Service } from '../../context.ts';
import { changeTicket, requireWritingLimit } from './change.ts';
import { addMessage } from './text.ts';

const PNG = Buffer.from('89504e470d0a1a0a', 'hex');
const JPEG = Buffer.from('ffd8ff', 'hex');
const EXTENSIONS: Readonly<Record<TicketFileType, string>> = {
  'image/png': 'png',
  'image/jpeg': 'jpg',
  'text/plain': 'txt',
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
  const file = recognizeFile(sent);
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

export interface RecognizedFile extends NewTicketFile {
  readonly type: TicketFileType;
}

/** The file with its type and a clean name. Fails with `invalid_value`. */
export function recognizeFile({ name, content }: NewTicketFile): RecognizedFile {
  const type = typeOf(content);
  return { name: cleanName(name, type), type, content };
}

/** Files that a ticket can still have. */
export interface FileRoom {
  readonly files: number;
  readonly bytes: number;
}

/** The caller holds the locks of the customer and the ticket. */
export async function readFileRoom(
  tx: Sql,
  { id, customer_id: customerId }: Pick<TicketRow, 'id' | 'customer_id'>,
): Promise<FileRoom> {
  return {
    files: LIMITS.ticketFilesMax - (await listTicketFiles(tx, id)).length,
    bytes: LIMITS.ticketFilesMaxBytes - (await sumTicketFileBytes(tx, customerId)),
  };
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

/** The type by the content: the name and the header of a request are not trusted. */
function typeOf(content: Buffer): TicketFileType {
  if (content.length === 0) fail('invalid_value', { field: 'file' }, 'Choose a file that is not empty.');
  const max = LIMITS.ticketFileMaxBytes;
  if (content.length > max) {
    fail('invalid_value', { field: 'file' }, `The file is too large. Send at most ${max / 1024} KiB.`);
  }
  if (content.subarray(0, PNG.length).equals(PNG)) return 'image/png';
  if (content.subarray(0, JPEG.length).equals(JPEG)) return 'image/jpeg';
  if (isText(content)) return 'text/plain';
  fail('invalid_value', { field: 'file' }, 'Send a PNG or JPEG image, or a plain text file in UTF-8.');
}

function isText(content: Buffer): boolean {
  try {
    const text = new TextDecoder('utf-8', { fatal: true }).decode(content);
    return !/[^\P{Cc}\r\n\t\f]/u.test(text);
  } catch {
    return false;
  }
}

/** A name for a header and a disk, with the ending of its type. */
function cleanName(wanted: string, type: TicketFileType): string {
  const ending = `.${EXTENSIONS[type]}`;
  const base = wanted
    .replace(/\.(?:png|jpe?g|txt|log)$/i, '')
    .replace(/[^\p{L}\p{N}._-]+/gu, '-')
    .replace(/^[.-]+/, '');
  return `${base.slice(0, LIMITS.ticketFileNameMaxChars - ending.length) || 'file'}${ending}`;
}
