import type { Pages } from '../pages.ts';
import type { CallOptions } from '../transport.ts';
import type {
  CreateFirewallGroup,
  CreateFirewallRule,
  FirewallGroup,
  FirewallRule,
  ListQuery,
  UpdateFirewallGroup,
} from '../types.ts';
import { byId, Resource } from './resource.ts';

/** Packet filters in front of servers (SPEC "Firewall group"). First match wins. */
export class FirewallGroups extends Resource {
  list(query: ListQuery<'firewall_groups.list'> = {}, options?: CallOptions): Pages<FirewallGroup> {
    return this.pages(query, options, (api, params) => api.GET('/firewall/groups', { params }));
  }

  create(body: CreateFirewallGroup, options?: CallOptions): Promise<FirewallGroup> {
    return this.transport.run((api) => api.POST('/firewall/groups', { body }), options);
  }

  get(id: string, options?: CallOptions): Promise<FirewallGroup> {
    return this.transport.run((api) => api.GET('/firewall/groups/{id}', byId(id)), options);
  }

  /** `applied_to` replaces the whole list of servers. */
  update(id: string, body: UpdateFirewallGroup, options?: CallOptions): Promise<FirewallGroup> {
    return this.transport.run((api) => api.PATCH('/firewall/groups/{id}', { ...byId(id), body }), options);
  }

  /** Deletes a group that is applied to no server. */
  delete(id: string, options?: CallOptions): Promise<void> {
    return this.remove((api) => api.DELETE('/firewall/groups/{id}', byId(id)), options);
  }
}

/** The rules of a firewall group, applied in order. */
export class FirewallRules extends Resource {
  /** Appends a rule. */
  create(group: string, body: CreateFirewallRule, options?: CallOptions): Promise<FirewallRule> {
    return this.transport.run(
      (api) => api.POST('/firewall/groups/{id}/rules', { ...byId(group), body }),
      options,
    );
  }

  /** Replaces all rules. */
  replace(
    group: string,
    body: { rules: CreateFirewallRule[] },
    options?: CallOptions,
  ): Promise<FirewallGroup> {
    return this.transport.run(
      (api) => api.PUT('/firewall/groups/{id}/rules', { ...byId(group), body }),
      options,
    );
  }

  delete(group: string, rule: string, options?: CallOptions): Promise<void> {
    return this.remove(
      (api) =>
        api.DELETE('/firewall/groups/{id}/rules/{rule_id}', {
          params: { path: { id: group, rule_id: rule } },
        }),
      options,
    );
  }
}
