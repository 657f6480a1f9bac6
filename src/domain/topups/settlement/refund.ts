/**
 * Refunds of withheld payments. This system moves no coins: it records the destination, who approved the
 * refund, and the transaction that sent it. Either at once or in two steps: approved first, then completed
 * when sent. Records never change.
 */
import { fail } from '../../../kernel/fail.ts';
import { formatId } from '../../../kernel/ids.ts';
import { OperatorError, requireLine } from '../../../kernel/operator-error.ts';
import { parseDisplayName } from '../../../kernel/printable.ts';
import type { Sql } from '../../../kernel/sql.ts';
import { type CoinCode, getCoin as coinOf } from '../../../spec/coins.ts';
import { listDeposits } from '../../../store/topups/deposits.ts';
import { isDepositAddress, listRefunds, type RefundRow, saveRefund } from '../../../store/topups/refunds.ts';
import { lockTopup, type TopupRow } from '../../../store/topups/topups.ts';
import type { Actor, Service } from '../../context.ts';
import { recordAudit } from '../../record.ts';
import { isInBlock } from './deposit.ts';
import { type ResolvedTopup, resolveWithheld } from './withheld.ts';

export interface RefundOrder {
  /** The customer's address. */
  readonly to?: string | undefined;
  readonly approvedBy?: string | undefined;
  /** The transaction that sent the coins; omitted until they are sent. */
  readonly txid?: string | undefined;
  /** One line for the records. */
  readonly note?: string | undefined;
}

export type RefundedTopup = ResolvedTopup & { readonly refund: RecordedRefund };
type RecordedRefund = Pick<RefundRow, 'address' | 'txid'>;

const TXID = /^[0-9A-Za-z]{16,128}$/;

/**
 * Records that the withheld payments of an invoice are refunded, after which they are never credited.
 * Completes an approved refund that has no transaction yet. Fails with `not_found` if no withheld payment
 * is in a block, and with an OperatorError if data is missing or differs from the record.
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

/**
 * Refuses an order that could not be recorded, before a second person sees it. Changes nothing. Fails like
 * `refundTopup`.
 */
export async function checkRefund(
  { db }: Pick<Service, 'db'>,
  { id, coin }: Pick<TopupRow, 'id' | 'coin'>,
  order: RefundOrder,
): Promise<void> {
  const unsent = (await listRefunds(db, id)).find(({ address, txid }) => address !== null && txid === null);
  if (unsent) return void toSent(unsent, order);
  const withheld = await requireAgreed(db, id);
  if (withheld.length === 0) fail('not_found', {}, 'No payment of this top-up is withheld.');
  await toApproved(db, coin, order);
}

/** The withheld payments in a block. Throws an OperatorError if the second node lacks one. */
async function requireAgreed(tx: Sql, topupId: string) {
  const withheld = (await listDeposits(tx, topupId)).filter(
    (deposit) => deposit.held && isInBlock(deposit.state),
  );
  if (withheld.some(({ agreed }) => !agreed)) {
    throw new OperatorError(
      'the second node does not have the withheld payment: refund it after both nodes have it',
    );
  }
  return withheld;
}

async function toApproved(tx: Sql, coin: CoinCode, { to, approvedBy, txid, note }: RefundOrder) {
  if (to === undefined) throw new OperatorError('--to is required: the address that the customer named');
  if (approvedBy === undefined) throw new OperatorError('--approved-by is required: who approved the refund');
  return {
    address: await requireRefundAddress(tx, coin, to.trim()),
    approved_by: requireApprover(approvedBy),
    txid: txid === undefined ? null : requireTxid(txid),
    note: note === undefined ? null : requireLine('note', note),
  };
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
  await requireAgreed(tx, topup.id);
  const resolved = await resolveWithheld(tx, service, by, {
    // A payment that left the chain must not be refunded.
    selects: (deposit) => deposit.held && isInBlock(deposit.state),
    apply: (deposit) => ({ ...deposit, held: false, refunded_at: now }),
    audit: 'topup.refund',
    now,
  });
  const refund = { keys: resolved.resolvedKeys, ...(await toApproved(tx, topup.coin, order)) };
  await saveRefund(tx, topup.id, refund);
  return { ...resolved, refund };
}

async function completeRefund(
  tx: Sql,
  service: Service,
  { actor, topup }: RefundContext,
  { unsent, order }: { readonly unsent: RefundRow; readonly order: RefundOrder },
): Promise<RefundedTopup> {
  const sent = toSent(unsent, order);
  await saveRefund(tx, topup.id, sent);
  const entry = { actor, resource: formatId('topup', topup.id), customerId: topup.customer_id };
  await recordAudit(tx, { ...entry, action: 'topup.refund' }, service.clock.now());
  return { ...topup, resolvedUnits: BigInt(sent.units), resolvedKeys: sent.keys, refund: sent };
}

/** The approved refund with its transaction. */
function toSent(unsent: RefundRow, { to, approvedBy, txid, note }: RefundOrder) {
  if (to !== undefined && to.trim() !== unsent.address) throw refundMismatch('to another address');
  if (approvedBy !== undefined && requireApprover(approvedBy) !== unsent.approved_by) {
    throw refundMismatch('by someone else');
  }
  if (note !== undefined && unsent.note !== null && requireLine('note', note) !== unsent.note) {
    throw refundMismatch('with another note');
  }
  if (txid === undefined) {
    throw new OperatorError(
      'this refund is already approved: pass --txid with the transaction once the coins are sent',
    );
  }
  return {
    ...unsent,
    txid: requireTxid(txid),
    note: unsent.note ?? (note === undefined ? null : requireLine('note', note)),
  };
}

function refundMismatch(how: string): OperatorError {
  return new OperatorError(`this refund was approved ${how}: the record of a refund cannot change`);
}

function requireApprover(name: string): string {
  const line = parseDisplayName(name.trim());
  if (line === undefined)
    throw new OperatorError('--approved-by must be a name of 1 to 63 printable characters');
  return line;
}

function requireTxid(text: string): string {
  if (!TXID.test(text))
    throw new OperatorError('--txid is not a transaction id: it must have 16 to 128 letters and digits');
  return text;
}

const BASE58 = '[1-9A-HJ-NP-Za-km-z]';
const BECH32 = '(?:[02-9ac-hj-np-z]{14,}|[02-9AC-HJ-NP-Z]{14,})';
const EVM = /^0x[0-9a-fA-F]{40}$/;
const TRON = new RegExp(`^T${BASE58}{33}$`);
const ADDRESS_PATTERNS: Readonly<Record<CoinCode, RegExp>> = {
  BTC: new RegExp(`^(?:(?:bc|BC|tb|TB|bcrt|BCRT)1${BECH32}|[123mn]${BASE58}{25,34})$`),
  LTC: new RegExp(`^(?:(?:ltc|LTC|tltc|rltc|ltcmweb|tmweb)1${BECH32}|[3LMQ2mn]${BASE58}{25,34})$`),
  XMR: new RegExp(`^${BASE58}{95}(?:${BASE58}{11})?$`),
  ETH: EVM,
  USDT: EVM,
  TRX: TRON,
  USDTTRC: TRON,
  SOL: new RegExp(`^${BASE58}{32,44}$`),
};
const ADDRESS_MAX_CHARS = 200;

/**
 * Checks the format per network, including test networks: catches addresses of other networks and truncated
 * ones. The sending wallet verifies the checksum. Throws an OperatorError that does not quote the address.
 */
export async function requireRefundAddress(tx: Sql, coin: CoinCode, address: string): Promise<string> {
  if (address.length > ADDRESS_MAX_CHARS || !ADDRESS_PATTERNS[coin].test(address)) {
    throw new OperatorError(`--to is not a valid ${coin} address on ${coinOf(coin).network}`);
  }
  if (await isDepositAddress(tx, address)) {
    throw new OperatorError(
      '--to is a deposit address of this service: ask the customer for an address of theirs',
    );
  }
  return address;
}
