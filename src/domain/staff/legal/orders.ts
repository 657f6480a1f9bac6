/** Legal orders: what an authority ordered, about whom, until when, and what came of it. */
import { fail, invalidRequest } from '../../../kernel/fail.ts';
import { newId } from '../../../kernel/ids.ts';
import type { Sql } from '../../../kernel/sql.ts';
import { formatSessionTime } from '../../../kernel/time.ts';
import { SEALED } from '../../../spec/sealed.ts';
import { LEGAL_LIMITS, type LegalOrderKind, type LegalResult } from '../../../spec/staff/legal.ts';
import {
  insertLegalOrder,
  type LegalOrderRow,
  lockLegalOrder,
  updateLegalOrder,
} from '../../../store/staff/legal.ts';
import type { Service } from '../../context.ts';
import {
  checkLine,
  checkNote,
  checkTime,
  type LegalScopeInput,
  orderNotFound,
  requireOrderId,
  resolveScope,
} from './fields.ts';
import { type LegalDetails, type LegalOrder, openDetails, readLegalOrder } from './read.ts';

type Deps = Pick<Service, 'db' | 'keys' | 'clock'>;

interface OrderDates {
  /** A day or a time. Default: now. */
  readonly received?: string;
  /** Empty: the order has none. */
  readonly due?: string;
  readonly gag_until?: string;
}

export interface NewLegalOrder extends OrderDates, LegalScopeInput {
  readonly kind: LegalOrderKind;
  readonly authority: string;
  /** As the authority calls the order. */
  readonly reference: string;
  readonly note?: string;
}

/** Fails with `invalid_request`. */
export async function createLegalOrder(service: Deps, input: NewLegalOrder): Promise<LegalOrder> {
  const now = service.clock.now();
  const id = newId(now);
  const { customer_id, server_id, address, address_at } = await resolveScope(service, input);
  const details = {
    authority: checkLine('authority', input.authority),
    reference: checkLine('reference', input.reference),
    ...{ address, address_at, note: checkNote(input.note ?? '') },
  };
  const row: LegalOrderRow = {
    ...{ id, kind: input.kind, state: 'open', customer_id, server_id },
    details_sealed: sealDetails(service, id, details),
    ...checkDates(input, { received_at: now, due_at: null, gag_until: null }, now),
    ...{ data_handed_out: false, created_at: now, updated_at: now, closed_at: null },
  };
  await insertLegalOrder(service.db, row);
  return await readLegalOrder(service, id);
}

/** Omitted members stay as they are. */
export interface LegalOrderChange extends OrderDates {
  readonly kind?: LegalOrderKind;
  readonly authority?: string;
  readonly reference?: string;
  readonly note?: string;
}

/** Fails with `not_found`, `invalid_request`, and `conflict_state` for an order that is closed. */
export async function changeLegalOrder(
  service: Deps,
  shownId: string,
  change: LegalOrderChange,
): Promise<LegalOrder> {
  return await changeRow(service, shownId, (row, details, now) => ({
    row: {
      ...row,
      kind: change.kind ?? row.kind,
      ...checkDates(change, row, now),
    },
    details: {
      ...details,
      ...(change.authority !== undefined && { authority: checkLine('authority', change.authority) }),
      ...(change.reference !== undefined && { reference: checkLine('reference', change.reference) }),
      ...(change.note !== undefined && { note: checkNote(change.note) }),
    },
  }));
}

export interface LegalSubjectChange extends LegalScopeInput {
  /** The order no longer names anyone. */
  readonly remove?: boolean;
  /** One line. It is added to the note, which is sealed: the staff log does not have it. */
  readonly why: string;
}

/** Replaces or removes the subject of an order. Fails like `changeLegalOrder`. */
export async function setLegalSubject(
  service: Deps,
  shownId: string,
  { remove = false, why, ...subject }: LegalSubjectChange,
): Promise<LegalOrder> {
  const reason = checkLine('why', why);
  const { customer_id, server_id, address, address_at } = await resolveScope(service, subject);
  const isNamed = customer_id !== null || address !== null;
  if (isNamed && remove) {
    const message = 'Remove the subject, or name another one.';
    invalidRequest([{ field: 'remove', issue: 'invalid_value' }], message);
  }
  if (!isNamed && !remove) {
    const message = 'Name a customer, a server, or an address, or remove the subject.';
    invalidRequest([{ field: 'customer', issue: 'required' }], message);
  }
  return await changeRow(service, shownId, (row, details, now) => ({
    row: { ...row, customer_id, server_id },
    details: {
      ...{ ...details, address, address_at },
      note: noteWith(
        details,
        `${formatSessionTime(now)} UTC, subject ${remove ? 'removed' : 'changed'}: ${reason}`,
      ),
    },
  }));
}

/** The note with a further line. */
function noteWith({ note }: LegalDetails, line: string): string {
  const text = note === '' ? line : `${note}\n\n${line}`;
  const max = LEGAL_LIMITS.noteMaxChars;
  if (text.length <= max) return text;
  invalidRequest([{ field: 'why', issue: 'max_length', max }], 'The note is full. Shorten it first.');
}

export interface LegalOrderEnd {
  readonly result: LegalResult;
  readonly note: string;
  /** Whether data of a customer was given to the authority. */
  readonly data_handed_out: boolean;
}

/** Records what came of an order. The note follows the earlier one. Fails like `changeLegalOrder`. */
export async function closeLegalOrder(
  service: Deps,
  shownId: string,
  { result, note, data_handed_out }: LegalOrderEnd,
): Promise<LegalOrder> {
  const text = checkNote(note);
  if (text === '') invalidRequest([{ field: 'note', issue: 'required' }]);
  return await changeRow(service, shownId, (row, details, now) => ({
    row: { ...row, state: result, data_handed_out, closed_at: now },
    details: { ...details, note: [details.note, text].filter((each) => each !== '').join('\n\n') },
  }));
}

type Changed = { readonly row: LegalOrderRow; readonly details: LegalDetails };

async function changeRow(
  service: Deps,
  shownId: string,
  change: (row: LegalOrderRow, details: LegalDetails, now: Date) => Changed,
): Promise<LegalOrder> {
  const id = requireOrderId(shownId);
  await service.db.transaction(async (tx) => {
    const now = service.clock.now();
    const locked = await lockOpenOrder(tx, id);
    const { row, details } = change(locked, openDetails(service, locked), now);
    await updateLegalOrder(tx, {
      ...row,
      details_sealed: sealDetails(service, id, details),
      updated_at: now,
    });
  });
  return await readLegalOrder(service, id);
}

/** Returns the locked row. Fails with `not_found` and `conflict_state`. */
export async function lockOpenOrder(tx: Sql, id: string): Promise<LegalOrderRow> {
  const row = (await lockLegalOrder(tx, id)) ?? orderNotFound();
  if (row.state !== 'open') fail('conflict_state', {}, 'The order is closed. Its record no longer changes.');
  return row;
}

function sealDetails({ keys }: Deps, id: string, details: LegalDetails): string {
  return keys.seal(SEALED.legalOrder, id, JSON.stringify(details));
}

type Dates = Pick<LegalOrderRow, 'received_at' | 'due_at' | 'gag_until'>;

function checkDates({ received, due, gag_until: gag }: OrderDates, before: Dates, now: Date): Dates {
  const limit = (field: string, text: string | undefined, current: Date | null) =>
    text === undefined ? current : text.trim() === '' ? null : checkTime(field, text, 'end');
  const dates = {
    received_at: received?.trim() ? checkTime('received', received, 'start') : before.received_at,
    due_at: limit('due', due, before.due_at),
    gag_until: limit('gag_until', gag, before.gag_until),
  };
  if (dates.received_at > now) {
    const message = 'An order cannot arrive in the future.';
    invalidRequest([{ field: 'received', issue: 'invalid_value' }], message);
  }
  if (dates.due_at !== null && dates.due_at < dates.received_at) {
    invalidRequest([{ field: 'due', issue: 'invalid_value' }], 'An order is due after it arrives.');
  }
  return dates;
}
