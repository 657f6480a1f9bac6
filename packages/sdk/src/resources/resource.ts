import { type Page, Pages } from '../pages.ts';
import type { Api, ApiResponse, Attempt, CallOptions, Transport } from '../transport.ts';

/** The base class of all resources: keeps the transport and reads lists page by page. */
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
    return new Pages(query, (pageQuery) =>
      this.transport.run((api, attempt) => send(api, pageQuery, attempt), { ...options, list: true }),
    );
  }
}
