import type { Pages } from '../pages.ts';
import type { CallOptions } from '../transport.ts';
import type { Balance, CreateQuote, CreateTopup, LedgerEntry, ListQuery, Quote, Topup } from '../types.ts';
import { byId, Resource } from './resource.ts';

/** The prepaid balance (SPEC "Balance"). Scope: billing. */
export class Balances extends Resource {
  get(options?: CallOptions): Promise<Balance> {
    return this.transport.run((api) => api.GET('/billing/balance'), options);
  }
}

/** Charges, top-ups, and refunds, newest first. Scope: billing. */
export class Ledger extends Resource {
  list(query: ListQuery<'ledger.list'> = {}, options?: CallOptions): Pages<LedgerEntry> {
    return this.pages(query, options, (api, params) => api.GET('/billing/ledger', { params }));
  }
}

/** Payments to the balance. Scope: billing. */
export class Topups extends Resource {
  list(query: ListQuery<'topups.list'> = {}, options?: CallOptions): Pages<Topup> {
    return this.pages(query, options, (api, params) => api.GET('/billing/topup', { params }));
  }

  /** Returns an address for this payment and the amount to send to it before `expires_at`. */
  create(body: CreateTopup, options?: CallOptions): Promise<Topup> {
    return this.transport.run((api) => api.POST('/billing/topup', { body }), options);
  }

  get(id: string, options?: CallOptions): Promise<Topup> {
    return this.transport.run((api) => api.GET('/billing/topup/{id}', byId(id)), options);
  }
}

/** Prices of operations. */
export class Quotes extends Resource {
  /**
   * Returns the price, and whether the operation is possible now, without doing it. Send `id` as `quote` with
   * the operation: it is refused if its price is higher by then.
   */
  create(body: CreateQuote, options?: CallOptions): Promise<Quote> {
    return this.transport.run((api) => api.POST('/quotes', { body }), options);
  }
}
