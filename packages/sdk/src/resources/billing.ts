import type { Pages } from '../pages.ts';
import type { CallOptions } from '../transport.ts';
import type { Balance, CreateTopup, LedgerEntry, ListQuery, Topup } from '../types.ts';
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
