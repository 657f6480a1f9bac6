/** Notes and tags that staff keep on a customer. Only staff see them; an export of the account has them. */
import { fail, invalidRequest } from '../../../kernel/fail.ts';
import { formatId, newId, parseId } from '../../../kernel/ids.ts';
import { formatRfc3339 } from '../../../kernel/time.ts';
import { CUSTOMER_RECORD_LIMITS, isCustomerTag } from '../../../spec/staff/customers.ts';
import { lockCustomer } from '../../../store/customers/customers.ts';
import {
  countNotes,
  deleteNote,
  insertNote,
  listNotes,
  listTags,
  replaceTags,
} from '../../../store/customers/notes.ts';
import type { Service } from '../../context.ts';
import { requireCustomer } from '../operator.ts';

export interface CustomerNote {
  readonly object: 'customer_note';
  readonly id: string;
  readonly text: string;
  /** Null: a command on the machine, or a person who was deleted. */
  readonly author: string | null;
  readonly created_at: string;
}

const { notesMax, noteMaxChars, tagsMax } = CUSTOMER_RECORD_LIMITS;

/** All notes, newest first. */
export async function readNotes({ db }: Pick<Service, 'db'>, name: string): Promise<readonly CustomerNote[]> {
  const { id } = await requireCustomer(db, name);
  const rows = await listNotes(db, id, notesMax);
  return rows.map((row) => ({
    object: 'customer_note',
    id: formatId('customerNote', row.id),
    text: row.text,
    author: row.author,
    created_at: formatRfc3339(row.created_at),
  }));
}

/** Fails with `conflict_state` if the customer has as many notes as fit. Returns the id. */
export async function addNote(
  service: Pick<Service, 'db' | 'clock'>,
  name: string,
  note: { readonly text: string; readonly staffId: string | null },
): Promise<string> {
  const text = note.text.replaceAll('\r\n', '\n').trim();
  if (text === '') invalidRequest([{ field: 'text', issue: 'required' }]);
  if ([...text].length > noteMaxChars) {
    invalidRequest([{ field: 'text', issue: 'max_length', max: noteMaxChars }]);
  }
  if (/[^\P{C}\n\t]/u.test(text)) invalidRequest([{ field: 'text', issue: 'invalid_format' }]);
  const now = service.clock.now();
  const id = newId(now);
  await service.db.transaction(async (tx) => {
    const customer = await requireCustomer(tx, name);
    await lockCustomer(tx, customer.id);
    if (customer.deleting_at !== null) fail('conflict_state', {}, 'The account is being deleted.');
    if ((await countNotes(tx, customer.id, notesMax)) >= notesMax) {
      fail('conflict_state', {}, `A customer can have ${notesMax} notes. Delete one first.`);
    }
    const { staffId } = note;
    await insertNote(tx, { id, customer_id: customer.id, staff_id: staffId, text, created_at: now });
  });
  return formatId('customerNote', id);
}

/** Fails with `not_found` for a note of another customer, too. */
export async function removeNote({ db }: Pick<Service, 'db'>, name: string, shownId: string): Promise<void> {
  const { id } = await requireCustomer(db, name);
  const noteId = parseId('customerNote', shownId);
  if (noteId === undefined || !(await deleteNote(db, id, noteId))) {
    fail('not_found', {}, 'The customer has no note with this ID.');
  }
}

/** Replaces the tags. Returns them by name. */
export async function setTags(
  { db }: Pick<Service, 'db'>,
  name: string,
  tags: readonly string[],
): Promise<readonly string[]> {
  const wanted = [...new Set(tags)];
  if (wanted.length > tagsMax) invalidRequest([{ field: 'tags', issue: 'max_items', max: tagsMax }]);
  if (!wanted.every(isCustomerTag)) {
    const why = 'A tag has 1 to 40 lowercase letters, digits, hyphens, and underscores.';
    invalidRequest([{ field: 'tags', issue: 'invalid_format' }], why);
  }
  return await db.transaction(async (tx) => {
    const customer = await requireCustomer(tx, name);
    await lockCustomer(tx, customer.id);
    if (customer.deleting_at !== null) fail('conflict_state', {}, 'The account is being deleted.');
    await replaceTags(tx, customer.id, wanted);
    return await listTags(tx, customer.id);
  });
}
