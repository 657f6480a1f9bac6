/**
 * The latest price of each coin, and of the euro, from each source. The table stays small: sources times
 * coins.
 */
import type { Sql } from '../../kernel/sql.ts';
import type { QuoteStore, StoredQuote } from '../../ports/rates.ts';
import type { PricedAsset } from '../../spec/quote-sources.ts';
import { readEurRate } from '../service/service.ts';

export interface QuoteRow extends StoredQuote {
  readonly coin: PricedAsset;
}

/** Replaces a source's previous quotes, even with an older time: the source may have corrected its clock. */
export async function saveQuotes(tx: Sql, rows: readonly QuoteRow[]): Promise<void> {
  if (rows.length === 0) return;
  await tx.run(
    `insert into quotes (coin, source, usd, quoted_at)
     select * from unnest($rows.coin::text[], $rows.source::text[], $rows.usd::text[],
                          $rows.quotedAt::timestamptz[])
     on conflict (coin, source) do update set usd = excluded.usd, quoted_at = excluded.quoted_at`,
    { rows },
  );
}

export async function listQuotes(tx: Sql, coins: readonly PricedAsset[]): Promise<QuoteRow[]> {
  return await tx.rows<QuoteRow>(
    `select coin, source, usd, quoted_at as "quotedAt" from quotes
      where coin = any($1) order by coin, source`,
    [coins],
  );
}

export function createQuoteStore(sql: Sql): QuoteStore {
  return {
    listQuotes: (coins) => listQuotes(sql, coins),
    eurPerUsd: () => readEurRate(sql),
  };
}
