import type { Pages } from '../pages.ts';
import type { CallOptions } from '../transport.ts';
import type { Alert, CreateAlert, ListQuery, UpdateAlert } from '../types.ts';
import { byId, Resource } from './resource.ts';

/** Conditions on metrics of servers. The events `alert.fired` and `alert.resolved` tell when they are met. */
export class Alerts extends Resource {
  list(query: ListQuery<'alerts.list'> = {}, options?: CallOptions): Pages<Alert> {
    return this.pages(query, options, (api, params) => api.GET('/alerts', { params }));
  }

  /** Watches `servers`, or those with the labels of `label_selector`, `env=prod,team=web`: `''` means all. */
  create(body: CreateAlert, options?: CallOptions): Promise<Alert> {
    return this.transport.run((api) => api.POST('/alerts', { body }), options);
  }

  /** `firing` has the servers for which the condition is met now. */
  get(id: string, options?: CallOptions): Promise<Alert> {
    return this.transport.run((api) => api.GET('/alerts/{id}', byId(id)), options);
  }

  /** `servers` replaces the whole list. */
  update(id: string, body: UpdateAlert, options?: CallOptions): Promise<Alert> {
    return this.transport.run((api) => api.PATCH('/alerts/{id}', { ...byId(id), body }), options);
  }

  /** Its firings are resolved first. */
  delete(id: string, options?: CallOptions): Promise<void> {
    return this.remove((api) => api.DELETE('/alerts/{id}', byId(id)), options);
  }
}
