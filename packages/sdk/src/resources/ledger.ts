import type { Pages } from '../pages.ts';
import type { CallOptions } from '../transport.ts';
import type { LedgerEntry, ListQuery } from '../types.ts';
import { Resource } from './resource.ts';

/** Charges, top-ups, and refunds, newest first. Scope: billing. */
export class Ledger extends Resource {
  list(query: ListQuery<'ledger.list'> = {}, options?: CallOptions): Pages<LedgerEntry> {
    return this.pages(query, options, (api, asked, attempt) =>
      api.GET('/billing/ledger', { params: { query: asked }, ...attempt }),
    );
  }
}
