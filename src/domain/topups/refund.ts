/**
 * Held payments that are given back, outside this system: it moves no coins. It is noted where they go, who allowed it and which
 * transaction did it, at once or in two steps: approved first, completed when it was sent. What is noted is never changed.
 */
import { fail } from '../../kernel/fail.ts';
import { showId } from '../../kernel/ids.ts';
import { readName } from '../../kernel/printable.ts';
import { Refusal } from '../../kernel/refusal.ts';
import type { Sql } from '../../kernel/sql.ts';
import { depositsOf } from '../../store/deposits.ts';
import { type RefundRow, refundsOf, saveRefund } from '../../store/refunds.ts';
import { lockTopup, type TopupRow } from '../../store/topups.ts';
import type { Actor, Service } from '../context.ts';
import { recordAudit } from '../record.ts';
import { requireLine } from '../rules/line.ts';
import { inBlock } from './deposit.ts';
import { type Resolved, resolveHeld } from './held.ts';
import { requireRefundAddress } from './refund-address.ts';

export interface RefundOrder {
  /** Where the customer wants the coins. */
  readonly to?: string | undefined;
  readonly approvedBy?: string | undefined;
  /** What sent them; left out: they are still to be sent. */
  readonly txid?: string | undefined;
  /** One line for the books. */
  readonly note?: string | undefined;
}

export type Refunded = Resolved & { readonly refund: Noted };
type Noted = Pick<RefundRow, 'address' | 'txid'>;

const TXID = /^[0-9A-Za-z]{16,128}$/;

/**
 * Notes that the held payments of an invoice are given back: from then on they are never credited. Where that is noted already
 * and its transaction is not, this completes it. Refuses with `not_found` when nothing is held there that is in a block, and
 * with a Refusal what is missing, or differs from what is noted.
 */
export async function refundTopup(
  service: Service,
  actor: Actor,
  topupId: string,
  order: RefundOrder,
): Promise<Refunded> {
  const refunded = await service.db.transaction(async (tx) => {
    const topup = (await lockTopup(tx, topupId)) ?? fail('not_found');
    const unsent = (await refundsOf(tx, topupId)).find(
      ({ address, txid }) => address !== null && txid === null,
    );
    const by = { actor, topup };
    return unsent
      ? await complete(tx, service, by, { unsent, order })
      : await approve(tx, service, by, order);
  });
  service.wake();
  return refunded;
}

interface By {
  readonly actor: Actor;
  readonly topup: TopupRow;
}

async function approve(tx: Sql, service: Service, by: By, order: RefundOrder): Promise<Refunded> {
  const { topup } = by;
  const now = service.clock.now();
  const held = (await depositsOf(tx, topup.id)).filter((deposit) => deposit.held && inBlock(deposit.state));
  if (held.some(({ agreed }) => !agreed)) {
    throw new Refusal(
      'the second node does not have what is held: nothing is sent back until both nodes have it',
    );
  }
  const resolved = await resolveHeld(tx, service, by, {
    // What is not on the chain any more must not be paid back.
    meant: (deposit) => deposit.held && inBlock(deposit.state),
    apply: (deposit) => ({ ...deposit, held: false, refunded_at: now }),
    audit: 'topup.refund',
    now,
  });
  const { to, approvedBy } = order;
  if (to === undefined) throw new Refusal('--to is missing: the address that the customer named');
  if (approvedBy === undefined) throw new Refusal('--approved-by is missing: who allowed it');
  const refund = {
    keys: resolved.resolvedKeys,
    address: await requireRefundAddress(tx, topup.coin, to.trim()),
    approved_by: requireApprover(approvedBy),
    txid: order.txid === undefined ? null : requireTxid(order.txid),
    note: order.note === undefined ? null : requireLine('note', order.note),
  };
  await saveRefund(tx, topup.id, refund);
  return { ...resolved, refund };
}

async function complete(
  tx: Sql,
  service: Service,
  { actor, topup }: By,
  { unsent, order }: { readonly unsent: RefundRow; readonly order: RefundOrder },
): Promise<Refunded> {
  const { to, approvedBy, txid, note } = order;
  if (to !== undefined && to.trim() !== unsent.address) throw changed('to another address');
  if (approvedBy !== undefined && requireApprover(approvedBy) !== unsent.approved_by) {
    throw changed('by somebody else');
  }
  if (note !== undefined && unsent.note !== null && requireLine('note', note) !== unsent.note) {
    throw changed('with another note');
  }
  if (txid === undefined) {
    throw new Refusal(
      'its refund is approved already: give --txid, the transaction that sent the coins, once they are sent',
    );
  }
  const sent = {
    ...unsent,
    txid: requireTxid(txid),
    note: unsent.note ?? (note === undefined ? null : requireLine('note', note)),
  };
  await saveRefund(tx, topup.id, sent);
  const entry = { actor, resource: showId('topup', topup.id), customerId: topup.customer_id };
  await recordAudit(tx, { ...entry, action: 'topup.refund' }, service.clock.now());
  return { ...topup, resolvedUnits: BigInt(sent.units), resolvedKeys: sent.keys, refund: sent };
}

function changed(how: string): Refusal {
  return new Refusal(`it was approved ${how}: what is noted of a refund is not changed`);
}

function requireApprover(name: string): string {
  const line = readName(name.trim());
  if (line === undefined) throw new Refusal('--approved-by is a name of 1 to 63 printable characters');
  return line;
}

function requireTxid(text: string): string {
  if (!TXID.test(text)) throw new Refusal('--txid is no transaction: it has 16 to 128 letters and digits');
  return text;
}
