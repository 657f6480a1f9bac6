/** The addresses that received coins, for sweeping them from the offline wallet. */
import { formatId, parseId } from '../../../kernel/ids.ts';
import { formatUnits } from '../../../kernel/money.ts';
import { OperatorError } from '../../../kernel/operator-error.ts';
import { formatRfc3339, parseRfc3339 } from '../../../kernel/time.ts';
import { type CoinCode, getCoin } from '../../../spec/coins.ts';
import { listPaidAddresses } from '../../../store/topups/operator-coins.ts';
import type { Service } from '../../context.ts';

export interface SweepQuery {
  /** Omitted: the addresses of all coins. */
  readonly coin?: CoinCode;
  /** A day or a time: only addresses that were paid since then, such as since the last sweep. */
  readonly since?: string;
  /** `top_…`: only addresses of older top-ups. */
  readonly before?: string;
  readonly limit: number;
}

export interface PaidAddress {
  readonly object: 'paid_address';
  /** Of the top-up that the address was given out for. */
  readonly id: string;
  readonly order_ref: string;
  readonly coin: CoinCode;
  readonly address: string;
  /** Everything that it ever received. The service does not see what was swept. */
  readonly received: string;
  readonly payments: number;
  readonly last_paid_at: string;
}

export async function listSweep(
  { db }: Pick<Service, 'db'>,
  { coin, since, before, limit }: SweepQuery,
): Promise<{ readonly addresses: readonly PaidAddress[]; readonly more: boolean }> {
  const filter = { coin: coin ?? null, since: parseSince(since), beforeId: parseBefore(before) };
  const rows = await listPaidAddresses(db, filter, limit + 1);
  const addresses = rows.slice(0, limit).map(
    (row): PaidAddress => ({
      object: 'paid_address',
      id: formatId('topup', row.topup_id),
      order_ref: row.order_ref,
      coin: row.coin,
      address: row.address,
      received: formatUnits(BigInt(row.units), getCoin(row.coin).decimals),
      payments: Number(row.payments),
      last_paid_at: formatRfc3339(row.last_paid_at),
    }),
  );
  return { addresses, more: rows.length > limit };
}

function parseSince(text: string | undefined): Date | null {
  if (text === undefined) return null;
  const at = parseRfc3339(/^\d{4}-\d{2}-\d{2}$/.test(text) ? `${text}T00:00:00Z` : text);
  return at ?? refuse('since must be a day such as 2026-01-31, or a time such as 2026-01-31T00:00:00Z');
}

function parseBefore(text: string | undefined): string | null {
  if (text === undefined) return null;
  return parseId('topup', text) ?? refuse('before must be the id of a top-up, top_…');
}

function refuse(message: string): never {
  throw new OperatorError(message);
}
