/**
 * Held payments that are given back, outside this system: it moves no coins. It is noted where they go, who allowed it and which
 * transaction did it, at once or in two steps: approved first, completed when it was sent. What is noted is never changed.
 */
import { fail } from '../../kernel/fail.ts';
import { formatId } from '../../kernel/ids.ts';
import { OperatorError } from '../../kernel/operator-error.ts';
import { parseDisplayName } from '../../kernel/printable.ts';
import type { Sql } from '../../kernel/sql.ts';
import { listDeposits } from '../../store/deposits.ts';
import { listRefunds, type RefundRow, saveRefund } from '../../store/refunds.ts';
import { lockTopup, type TopupRow } from '../../store/topups.ts';
import type { Actor, Service } from '../context.ts';
import { recordAudit } from '../record.ts';
import { requireLine } from '../rules/line.ts';
import { isInBlock } from './deposit.ts';
import { requireRefundAddress } from './refund-address.ts';
import { type ResolvedTopup, resolveWithheld } from './withheld.ts';

export interface RefundOrder {
  /** Where the customer wants the coins. */
  readonly to?: string | undefined;
  readonly approvedBy?: string | undefined;
  /** What sent them; left out: they are still to be sent. */
  readonly txid?: string | undefined;
  /** One line for the books. */
  readonly note?: string | undefined;
}

export type RefundedTopup = ResolvedTopup & { readonly refund: RecordedRefund };
type RecordedRefund = Pick<RefundRow, 'address' | 'txid'>;

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
): Promise<RefundedTopup> {
  const refunded = await service.db.transaction(async (tx) => {
    const topup = (await lockTopup(tx, topupId)) ?? fail('not_found');
    const unsent = (await listRefunds(tx, topupId)).find(
      ({ address, txid }) => address !== null && txid === null,
    );
    const by = { actor, topup };
    return unsent
      ? await completeRefund(tx, service, by, { unsent, order })
      : await approveRefund(tx, service, by, order);
  });
  service.wake();
  return refunded;
}

interface RefundContext {
  readonly actor: Actor;
  readonly topup: TopupRow;
}

async function approveRefund(
  tx: Sql,
  service: Service,
  by: RefundContext,
  order: RefundOrder,
): Promise<RefundedTopup> {
  const { topup } = by;
  const now = service.clock.now();
  const withheld = (await listDeposits(tx, topup.id)).filter(
    (deposit) => deposit.held && isInBlock(deposit.state),
  );
  if (withheld.some(({ agreed }) => !agreed)) {
    throw new OperatorError(
      'the second node does not have what is held: nothing is sent back until both nodes have it',
    );
  }
  const resolved = await resolveWithheld(tx, service, by, {
    // What is not on the chain any more must not be paid back.
    selects: (deposit) => deposit.held && isInBlock(deposit.state),
    apply: (deposit) => ({ ...deposit, held: false, refunded_at: now }),
    audit: 'topup.refund',
    now,
  });
  const { to, approvedBy } = order;
  if (to === undefined) throw new OperatorError('--to is missing: the address that the customer named');
  if (approvedBy === undefined) throw new OperatorError('--approved-by is missing: who allowed it');
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

async function completeRefund(
  tx: Sql,
  service: Service,
  { actor, topup }: RefundContext,
  { unsent, order }: { readonly unsent: RefundRow; readonly order: RefundOrder },
): Promise<RefundedTopup> {
  const { to, approvedBy, txid, note } = order;
  if (to !== undefined && to.trim() !== unsent.address) throw refundMismatch('to another address');
  if (approvedBy !== undefined && requireApprover(approvedBy) !== unsent.approved_by) {
    throw refundMismatch('by somebody else');
  }
  if (note !== undefined && unsent.note !== null && requireLine('note', note) !== unsent.note) {
    throw refundMismatch('with another note');
  }
  if (txid === undefined) {
    throw new OperatorError(
      'its refund is approved already: give --txid, the transaction that sent the coins, once they are sent',
    );
  }
  const sent = {
    ...unsent,
    txid: requireTxid(txid),
    note: unsent.note ?? (note === undefined ? null : requireLine('note', note)),
  };
  await saveRefund(tx, topup.id, sent);
  const entry = { actor, resource: formatId('topup', topup.id), customerId: topup.customer_id };
  await recordAudit(tx, { ...entry, action: 'topup.refund' }, service.clock.now());
  return { ...topup, resolvedUnits: BigInt(sent.units), resolvedKeys: sent.keys, refund: sent };
}

function refundMismatch(how: string): OperatorError {
  return new OperatorError(`it was approved ${how}: what is noted of a refund is not changed`);
}

function requireApprover(name: string): string {
  const line = parseDisplayName(name.trim());
  if (line === undefined) throw new OperatorError('--approved-by is a name of 1 to 63 printable characters');
  return line;
}

function requireTxid(text: string): string {
  if (!TXID.test(text))
    throw new OperatorError('--txid is no transaction: it has 16 to 128 letters and digits');
  return text;
}
