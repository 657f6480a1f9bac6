import type { Pages } from '../pages.ts';
import type { CallOptions } from '../transport.ts';
import type { Action, ListQuery } from '../types.ts';
import { byId, Resource } from './resource.ts';

/**
 * Work that takes time, with its progress and the cause of a failure. Wait for one with
 * `skerry.waitForAction(server.action)`.
 */
export class Actions extends Resource {
  list(query: ListQuery<'actions.list'> = {}, options?: CallOptions): Pages<Action> {
    return this.pages(query, options, (api, params) => api.GET('/actions', { params }));
  }

  get(id: string, options?: CallOptions): Promise<Action> {
    return this.transport.run((api) => api.GET('/actions/{id}', byId(id)), options);
  }

  /** What was done to a server in the last 90 days. */
  ofServer(server: string, query: ListQuery<'actions.of_server'> = {}, options?: CallOptions): Pages<Action> {
    return this.pages(query, options, (api, { query: asked }) =>
      api.GET('/servers/{id}/actions', { params: { path: { id: server }, query: asked } }),
    );
  }
}
