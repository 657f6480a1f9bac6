import { type Page, Pages } from '../pages.ts';
import type { Api, CallOptions, Send, Transport } from '../transport.ts';

/** A deletion that takes time: `if (action) await skerry.waitForAction(action)`. */
export interface Removal {
  /** The ID of its action. Null if an earlier attempt began it, and from a service before 1.7. */
  readonly action: string | null;
}

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

  /** A deletion that continues after its response, which names the action in a header. */
  protected async beginRemoval(send: Send<undefined>, options: CallOptions | undefined): Promise<Removal> {
    let action: string | null = null;
    const sendAndRead: Send<undefined> = async (api) => {
      const sent = await send(api);
      action = sent.response.headers.get('x-action-id');
      return sent;
    };
    await this.remove(sendAndRead, options);
    return { action };
  }
}

/** The parameters of a path with one ID. */
export function byId(id: string): { readonly params: { readonly path: { readonly id: string } } } {
  return { params: { path: { id } } };
}
