import type { Pages } from '../pages.ts';
import type { CallOptions } from '../transport.ts';
import type { CreateTopup, ListQuery, Topup } from '../types.ts';
import { Resource } from './resource.ts';

/** Payments to the balance. Scope: billing. */
export class Topups extends Resource {
  list(query: ListQuery<'topups.list'> = {}, options?: CallOptions): Pages<Topup> {
    return this.pages(query, options, (api, asked, attempt) =>
      api.GET('/billing/topup', { params: { query: asked }, ...attempt }),
    );
  }

  /** Returns an address for this payment and the amount to send to it before `expires_at`. */
  create(body: CreateTopup, options?: CallOptions): Promise<Topup> {
    return this.transport.run((api, attempt) => api.POST('/billing/topup', { body, ...attempt }), {
      ...options,
      post: true,
    });
  }

  get(id: string, options?: CallOptions): Promise<Topup> {
    return this.transport.run(
      (api, attempt) => api.GET('/billing/topup/{id}', { params: { path: { id } }, ...attempt }),
      options,
    );
  }
}
