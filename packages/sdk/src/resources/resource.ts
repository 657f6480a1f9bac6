import { type Page, Pages } from '../pages.ts';
import type { Api, CallOptions, Send, Transport } from '../transport.ts';

/** The base class of all resources: keeps the transport and reads lists page by page. */
export class Resource {
  protected readonly transport: Transport;

  constructor(transport: Transport) {
    this.transport = transport;
  }

  protected pages<T, Query extends object>(
    query: Query,
    options: CallOptions | undefined,
    send: (api: Api, params: { readonly query: Query }) => ReturnType<Send<Page<T>>>,
  ): Pages<T, Query> {
    return new Pages(query, (pageQuery) =>
      this.transport.run((api) => send(api, { query: pageQuery }), { ...options, list: true }),
    );
  }

  /** A deletion that has no response. */
  protected remove(send: Send<undefined>, options: CallOptions | undefined): Promise<void> {
    return this.transport.run(send, { ...options, ignoreNotFoundOnRetry: true });
  }
}

/** The parameters of a path with one ID. */
export function byId(id: string): { readonly params: { readonly path: { readonly id: string } } } {
  return { params: { path: { id } } };
}
