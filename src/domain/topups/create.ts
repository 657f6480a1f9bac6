import { crashPoint } from '../../kernel/crash.ts';
import { Failure, fail } from '../../kernel/fail.ts';
import { newId, newPublicNo, newSecretText, showId } from '../../kernel/ids.ts';
import { coinDue } from '../../kernel/money.ts';
import type { Sql } from '../../kernel/sql.ts';
import { MINUTE_MS } from '../../kernel/time.ts';
import type { Deposit } from '../../ports/chain.ts';
import { type CoinCode, coin as coinOf, confirmationsNeeded } from '../../spec/coins.ts';
import { findCustomer, lockCustomer } from '../../store/customers.ts';
import { insertTopup, type TopupRow } from '../../store/topups.ts';
import type { CustomerActor, Service } from '../context.ts';
import { recordAudit } from '../record.ts';
import { bonusCents } from './amount.ts';
import { requireRoom, whileFew } from './room.ts';
import { type TakenAddress, takeAddress } from './take-address.ts';

export interface TopupOrder {
  readonly coin: CoinCode;
  /** From `parseTopupAmount`. */
  readonly amountCents: bigint;
}

type Priced = TopupOrder & Pick<TopupRow, 'id' | 'rate_usd' | 'quotes' | 'deposit_units'>;

/**
 * Makes an invoice with an address of its own and the rate of the moment. `within` runs in the same transaction,
 * with the new row. Refuses with `account_frozen`, `limit_reached` {limit} or `unavailable`.
 */
export async function createTopup(
  service: Service,
  actor: CustomerActor,
  order: TopupOrder,
  options: Options = {},
): Promise<TopupRow> {
  return await whileFew(service, actor.customerId, async () => {
    const { coin } = order;
    // Asked before, so that a refused order costs no address, and again under the lock, where it counts.
    const customer = await findCustomer(service.db, actor.customerId);
    await requireRoom(service, service.db, { customer, coin });
    const priced = await price(service, order);
    const { deposit, giveBack } = await allocate(service, priced);
    try {
      return await write(service, actor, { priced, deposit }, options);
    } catch (error) {
      // A refusal undid all of it. After anything else the invoice may be there.
      if (error instanceof Failure) await giveBack();
      throw error;
    }
  });
}

interface Options {
  readonly within?: (tx: Sql, topup: TopupRow) => Promise<void>;
}

async function write(
  service: Service,
  actor: CustomerActor,
  { priced, deposit }: { readonly priced: Priced; readonly deposit: Deposit },
  { within }: Options,
): Promise<TopupRow> {
  const { customerId } = actor;
  const { coin } = priced;
  const topup = await service.db.transaction(async (tx) => {
    // The customer's lock lets invoices made at the same moment count each other.
    await requireRoom(service, tx, { customer: await lockCustomer(tx, customerId), coin });
    const now = service.clock.now();
    const expiresAt = new Date(now.getTime() + service.settings.rateLockMinutes * MINUTE_MS);
    const row = await insertFresh(tx, newTopup(priced, deposit, customerId, now, expiresAt));
    await recordAudit(tx, { actor, action: 'topup.create', resource: showId('topup', row.id) }, now);
    await within?.(tx, row);
    crashPoint('topup.written');
    return row;
  });
  crashPoint('topup.committed');
  return topup;
}

async function price(service: Service, order: TopupOrder): Promise<Priced> {
  const { coin, amountCents } = order;
  try {
    const { usd, quotes } = await service.rates.usdPerCoin(coin);
    const units = coinDue(amountCents, usd, coinOf(coin).decimals);
    return { ...order, id: newId(service.clock.now()), rate_usd: usd, quotes, deposit_units: units };
  } catch (error) {
    return refuse(service, coin, 'no rate for a top-up', error);
  }
}

async function allocate(service: Service, priced: Priced): Promise<TakenAddress> {
  const { coin, id, deposit_units: amountUnits } = priced;
  const driver = service.chains.get(coin);
  if (!driver) fail('unavailable', { field: 'coin' });
  return await takeAddress(service, driver, { id, coin, amountUnits }).catch((error: unknown) =>
    refuse(service, coin, 'no address for a top-up', error),
  );
}

/** What is wrong is for the operator; the customer can only come back later or take another coin. */
function refuse(service: Service, coin: CoinCode, message: string, error: unknown): never {
  service.log.warn({ err: error, coin }, message);
  fail('unavailable', { field: 'coin' }, 'This coin is not available right now: try later, or another one.');
}

function newTopup(
  priced: Priced,
  deposit: Deposit,
  customerId: string,
  createdAt: Date,
  expiresAt: Date,
): TopupRow {
  const { amountCents, ...stored } = priced;
  return {
    ...stored,
    public_no: newPublicNo(),
    order_ref: `ord_${newSecretText()}`,
    customer_id: customerId,
    amount_cents: amountCents,
    bonus_cents: bonusCents(amountCents),
    deposit_address: deposit.address,
    deposit_uri: deposit.uri,
    required_confirmations: confirmationsNeeded(priced.coin, amountCents),
    status: 'pending',
    cancelled_at: null,
    credit_held: false,
    confirmations: 0,
    credited_cents: 0n,
    bonus_paid_cents: 0n,
    bonus_transfers: [],
    expires_at: expiresAt,
    created_at: createdAt,
  };
}

/** The public number is random: should it be taken, another is drawn. */
async function insertFresh(tx: Sql, row: TopupRow): Promise<TopupRow> {
  let fresh = row;
  while (!(await insertTopup(tx, fresh))) fresh = { ...row, public_no: newPublicNo() };
  return fresh;
}
