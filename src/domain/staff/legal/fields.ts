/** The input of legal orders: checked, bounded, and resolved to a customer or a server. */
import { isIP } from 'node:net';
import { fail, invalidRequest } from '../../../kernel/fail.ts';
import { parseId } from '../../../kernel/ids.ts';
import { isPrintable } from '../../../kernel/printable.ts';
import { DAY_MS, parseRfc3339, SECOND_MS } from '../../../kernel/time.ts';
import { LEGAL_LIMITS } from '../../../spec/staff/legal.ts';
import { listAssignments } from '../../../store/inventory/address-history.ts';
import type { Service } from '../../context.ts';
import { requireCustomer } from '../../customers/operator.ts';
import { findServerForOperator } from '../../servers/operator/find.ts';

/** The subject of an order: one of a customer, a server, and an address at a time. All empty: not known. */
export interface LegalScopeInput {
  /** An email address or `cus_…`. */
  readonly customer?: string;
  /** `srv_…` or a current address. */
  readonly server?: string;
  readonly address?: string;
  /** When the address was used. */
  readonly at?: string;
}

export interface LegalScope {
  readonly customer_id: string | null;
  readonly server_id: string | null;
  readonly address: string | null;
  /** In RFC 3339. */
  readonly address_at: string | null;
}

/** Returns one line of text. */
export function checkLine(field: string, text: string): string {
  const line = text.trim();
  if (line === '') invalidRequest([{ field, issue: 'required' }]);
  const max = LEGAL_LIMITS.lineMaxChars;
  if (line.length > max) invalidRequest([{ field, issue: 'max_length', max }]);
  if (!isPrintable(line)) invalidRequest([{ field, issue: 'invalid_format' }]);
  return line;
}

/** Returns a text of several lines without control characters, which a terminal would obey. */
export function checkNote(text: string): string {
  const max = LEGAL_LIMITS.noteMaxChars;
  if (text.length > max) invalidRequest([{ field: 'note', issue: 'max_length', max }]);
  return text
    .replace(/\r\n?/g, '\n')
    .replace(/[^\P{Cc}\n\t]/gu, '')
    .trim();
}

/** Parses a day or a time. A day stands for its end where it is a limit. */
export function checkTime(field: string, text: string, edge: 'start' | 'end'): Date {
  const given = text.trim();
  const isDay = /^\d{4}-\d{2}-\d{2}$/.test(given);
  const time = parseRfc3339(isDay ? `${given}T00:00:00Z` : given);
  if (!time) {
    const message = 'Enter a day such as 2026-12-01, or a time such as 2026-12-01T22:00:00Z.';
    invalidRequest([{ field, issue: 'invalid_format', format: 'date-time' }], message);
  }
  return isDay && edge === 'end' ? new Date(time.getTime() + DAY_MS - SECOND_MS) : time;
}

/** Finds what an order is about. An address is resolved by its history, and kept if no one had it. */
export async function resolveScope({ db }: Pick<Service, 'db'>, input: LegalScopeInput): Promise<LegalScope> {
  const { customer = '', server = '', address = '', at = '' } = trimmed(input);
  const none = { customer_id: null, server_id: null, address: null, address_at: null };
  if ([customer, server, address].filter((text) => text !== '').length > 1) {
    const message = 'Name one of a customer, a server, and an address.';
    invalidRequest([{ field: customer === '' ? 'address' : 'customer', issue: 'invalid_value' }], message);
  }
  if (at !== '' && address === '') {
    const message = 'Enter the address that was used then, or leave the time empty.';
    invalidRequest([{ field: 'at', issue: 'invalid_value' }], message);
  }
  if (customer !== '') return { ...none, customer_id: (await requireCustomer(db, customer)).id };
  if (server !== '') {
    const { id, email } = await findServerForOperator({ db }, server);
    return { ...none, server_id: id, customer_id: (await requireCustomer(db, email)).id };
  }
  if (address === '') return none;
  if (isIP(address) === 0 || address.includes('%')) {
    invalidRequest([{ field: 'address', issue: 'invalid_format' }], 'Enter an IPv4 or IPv6 address.');
  }
  if (at === '') {
    const message = 'Enter when the address was used: it may have had several customers.';
    invalidRequest([{ field: 'at', issue: 'required' }], message);
  }
  const time = checkTime('at', at, 'start');
  const [had] = await listAssignments(db, address, { at: time, limit: 1 });
  return {
    customer_id: had?.customer_id ?? null,
    server_id: had?.server_id ?? null,
    ...{ address, address_at: time.toISOString() },
  };
}

function trimmed(input: LegalScopeInput): LegalScopeInput {
  return Object.fromEntries(Object.entries(input).map(([name, text]) => [name, String(text ?? '').trim()]));
}

/** Returns the id of an order from its public form. */
export function requireOrderId(shownId: string): string {
  return parseId('legalOrder', shownId) ?? orderNotFound();
}

export function orderNotFound(): never {
  fail('not_found', {}, 'There is no legal order with this id.');
}
