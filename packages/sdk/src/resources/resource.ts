import { type Page, Pages } from '../pages.ts';
import type { Api, ApiResponse, Attempt, CallOptions, Transport } from '../transport.ts';

/**
 * The base of all resources: sends a call, or the calls of a list. Methods have the names of API operations.
 */
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
