import type { Pages } from '../pages.ts';
import type { CallOptions } from '../transport.ts';
import type { CreateFirewallGroup, FirewallGroup, ListQuery, UpdateFirewallGroup } from '../types.ts';
import { Resource } from './resource.ts';

/** Packet filters in front of servers (SPEC "Firewall group"). First match wins. */
export class FirewallGroups extends Resource {
  list(query: ListQuery<'firewall_groups.list'> = {}, options?: CallOptions): Pages<FirewallGroup> {
    return this.pages(query, options, (api, asked, attempt) =>
      api.GET('/firewall/groups', { params: { query: asked }, ...attempt }),
    );
  }

  create(body: CreateFirewallGroup, options?: CallOptions): Promise<FirewallGroup> {
    return this.transport.run((api, attempt) => api.POST('/firewall/groups', { body, ...attempt }), {
      ...options,
      post: true,
    });
  }

  get(id: string, options?: CallOptions): Promise<FirewallGroup> {
    return this.transport.run(
      (api, attempt) => api.GET('/firewall/groups/{id}', { params: { path: { id } }, ...attempt }),
      options,
    );
  }

  /** `applied_to` replaces the whole list of servers. */
  update(id: string, body: UpdateFirewallGroup, options?: CallOptions): Promise<FirewallGroup> {
    return this.transport.run(
      (api, attempt) => api.PATCH('/firewall/groups/{id}', { params: { path: { id } }, body, ...attempt }),
      options,
    );
  }

  /** Deletes a group that is applied to no server. */
  delete(id: string, options?: CallOptions): Promise<void> {
    return this.transport.run(
      (api, attempt) => api.DELETE('/firewall/groups/{id}', { params: { path: { id } }, ...attempt }),
      { ...options, ignoreNotFoundOnRetry: true },
    );
  }
}
