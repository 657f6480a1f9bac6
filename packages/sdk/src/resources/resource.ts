import { type Page, Pages } from '../pages.ts';
import type { Api, ApiResponse, Attempt, CallOptions, Transport } from '../transport.ts';

/** What every resource does: one call, or a list's calls. Its methods have the names of the contract's operations. */
export class Resource {
  protected readonly transport: Transport;

  constructor(transport: Transport) {
    this.transport = transport;
  }

  protected pages<T, Query extends object>(
    query: Query,
    options: CallOptions | undefined,
    send: (api: Api, query: Query, attempt: Attempt) => Promise<ApiResponse<Page<T>>>,
  ): Pages<T, Query> {
    return new Pages(query, (asked) =>
      this.transport.run((api, attempt) => send(api, asked, attempt), { ...options, list: true }),
    );
  }
}
