/** Operator commands about a customer: credit, freeze, export. */

import { formatId, type IdKind, newId, parseId } from '../../kernel/ids.ts';
import { parseUnits } from '../../kernel/money.ts';
import { OperatorError } from '../../kernel/operator-error.ts';
import type { Sql } from '../../kernel/sql.ts';
import { formatRfc3339 } from '../../kernel/time.ts';
import {
  type CustomerRow,
  findCustomer,
  findCustomerByEmail,
  setCustomerFrozen,
} from '../../store/customers/customers.ts';
import { EXPORT_SECTIONS, type ExportSection, readSection } from '../../store/customers/export.ts';
import type { Service } from '../context.ts';
import { credit, type Transfer } from '../ledger/transfer.ts';
import { recordAudit, systemActor } from '../record.ts';
import { parseEmail } from './email/email.ts';

/** Returns the customer that the operator names by email address or by `cus_…`. */
export async function requireCustomer(tx: Sql, name: string): Promise<CustomerRow> {
  const id = parseId('customer', name);
  if (id !== undefined) return (await findCustomer(tx, id)) ?? customerNotFound('id');
  const key = parseEmail(name)?.key;
  return (key !== undefined && (await findCustomerByEmail(tx, key))) || customerNotFound('email address');
}

function customerNotFound(by: string): never {
  throw new OperatorError(`no customer has this ${by}`);
}

/** A larger amount is a typing error. */
const CREDIT_MAX_CENTS = 100_000_000_00n;

/**
 * Credits a customer: goodwill, an external payment, or a correction. The customer reads `reason` in the
 * ledger. Every call books a new entry.
 */
export async function creditCustomer(
  service: Pick<Service, 'db' | 'clock' | 'wake'>,
  order: { readonly email: string; readonly amountUsd: string; readonly reason: string },
): Promise<Transfer> {
  const amountCents = parseUnits(order.amountUsd, 2) ?? 0n;
  if (amountCents <= 0n || amountCents > CREDIT_MAX_CENTS) {
    throw new OperatorError(
      'the amount must be in US dollars, above 0, with at most 2 decimals, such as 25.50',
    );
  }
  const reason = order.reason.trim();
  if (!/^\P{C}{1,200}$/u.test(reason)) {
    throw new OperatorError('the reason must have 1 to 200 characters; the customer reads it in the ledger');
  }
  const now = service.clock.now();
  const transfer = await service.db.transaction(async (tx) => {
    const { id: customerId } = await requireCustomer(tx, order.email);
    const booked = await credit(
      tx,
      {
        customerId,
        account: 'adjustments',
        amountCents,
        type: 'adjustment',
        description: reason,
        fact: `adjustment:${newId(now)}`,
      },
      now,
    );
    await recordAudit(
      tx,
      { actor: systemActor(now), action: 'customer.credit', resource: null, customerId },
      now,
    );
    return booked;
  });
  service.wake();
  return transfer;
}

/**
 * Freezes or unfreezes: everything is readable, nothing can be changed, and servers keep running. Returns
 * false if there is no change.
 */
export async function freezeCustomer(
  service: Pick<Service, 'db' | 'clock'>,
  email: string,
  frozen: boolean,
): Promise<boolean> {
  const now = service.clock.now();
  return await service.db.transaction(async (tx) => {
    const { id: customerId } = await requireCustomer(tx, email);
    if (!(await setCustomerFrozen(tx, customerId, frozen ? now : null))) return false;
    const action = frozen ? 'customer.freeze' : 'customer.unfreeze';
    await recordAudit(tx, { actor: systemActor(now), action, resource: null, customerId }, now);
    return true;
  });
}

/**
 * Writes one JSON document with all data stored about a customer, row by row from one consistent snapshot,
 * in bounded memory. The audit row is written first, so it also covers exports that break off.
 */
export async function exportCustomer(
  service: Pick<Service, 'db' | 'clock' | 'keys'>,
  email: string,
  write: (text: string) => Promise<void>,
): Promise<void> {
  const now = service.clock.now();
  const customerId = await service.db.transaction(async (tx) => {
    const { id } = await requireCustomer(tx, email);
    const entry = {
      actor: systemActor(now),
      action: 'customer.export',
      resource: null,
      customerId: id,
    } as const;
    await recordAudit(tx, entry, now);
    return id;
  });
  await service.db.transaction(async (tx) => {
    await tx.run('set transaction isolation level repeatable read read only');
    await write(`{"object":"customer_export","exported_at":"${formatRfc3339(now)}"`);
    for (const section of EXPORT_SECTIONS) {
      let rows = 0;
      await write(`,\n"${section.name}":[`);
      await readSection(tx, section, customerId, async (row) => {
        await write(
          `${rows === 0 ? '' : ','}\n${JSON.stringify(withShownIds(section, opened(service, section, row)))}`,
        );
        rows += 1;
      });
      await write(rows === 0 ? ']' : '\n]');
    }
    await write('}\n');
  });
}

/** Returns the row with its sealed columns opened. */
function opened(
  { keys }: Pick<Service, 'keys'>,
  { opens = {} }: ExportSection,
  row: Record<string, unknown>,
): Record<string, unknown> {
  const entries = Object.entries(row).map(([name, value]) => {
    const [as, at, encoding] = opens[name] ?? [];
    if (!as || !at) return [name, value];
    return [as, Buffer.from(keys.open(at, String(row.id), String(value))).toString(encoding)];
  });
  return Object.fromEntries(entries);
}

/** Returns the row with ids in their public form. */
function withShownIds({ ids }: ExportSection, row: Record<string, unknown>): Record<string, unknown> {
  const entries = Object.entries(row).map(([name, value]) => [name, toShownIds(ids[name], value)]);
  return Object.fromEntries(entries);
}

function toShownIds(kind: IdKind | undefined, value: unknown): unknown {
  if (kind === undefined) return value;
  if (Array.isArray(value)) return value.map((each) => toShownIds(kind, each));
  return typeof value === 'string' ? formatId(kind, value) : value;
}
