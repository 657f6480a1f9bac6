import type { Pages } from '../pages.ts';
import type { CallOptions } from '../transport.ts';
import type { CreateTicket, ListedTicket, ListQuery, ReplyToTicket, Ticket } from '../types.ts';
import { byId, Resource } from './resource.ts';

/** Conversations with the people who run the service. Files are attached in the panel. */
export class Tickets extends Resource {
  /** Without their messages, which `get` returns. */
  list(query: ListQuery<'tickets.list'> = {}, options?: CallOptions): Pages<ListedTicket> {
    return this.pages(query, options, (api, params) => api.GET('/tickets', { params }));
  }

  /** We answer in the ticket, and by email. */
  create(body: CreateTicket, options?: CallOptions): Promise<Ticket> {
    return this.transport.run((api) => api.POST('/tickets', { body }), options);
  }

  get(id: string, options?: CallOptions): Promise<Ticket> {
    return this.transport.run((api) => api.GET('/tickets/{id}', byId(id)), options);
  }

  /** A closed ticket opens again. */
  reply(id: string, body: ReplyToTicket, options?: CallOptions): Promise<Ticket> {
    return this.transport.run((api) => api.POST('/tickets/{id}/reply', { ...byId(id), body }), options);
  }

  close(id: string, options?: CallOptions): Promise<Ticket> {
    return this.transport.run((api) => api.POST('/tickets/{id}/close', byId(id)), options);
  }
}
