import type { CallOptions } from '../transport.ts';
import type { CreateFirewallRule, FirewallGroup, FirewallRule } from '../types.ts';
import { Resource } from './resource.ts';

/** The rules of a firewall group, applied in order. */
export class FirewallRules extends Resource {
  /** Appends a rule. */
  create(group: string, body: CreateFirewallRule, options?: CallOptions): Promise<FirewallRule> {
    return this.transport.run(
      (api, attempt) =>
        api.POST('/firewall/groups/{id}/rules', { params: { path: { id: group } }, body, ...attempt }),
      { ...options, post: true },
    );
  }

  /** Replaces all rules. */
  replace(
    group: string,
    body: { rules: CreateFirewallRule[] },
    options?: CallOptions,
  ): Promise<FirewallGroup> {
    return this.transport.run(
      (api, attempt) =>
        api.PUT('/firewall/groups/{id}/rules', { params: { path: { id: group } }, body, ...attempt }),
      options,
    );
  }

  delete(group: string, rule: string, options?: CallOptions): Promise<void> {
    return this.transport.run(
      (api, attempt) =>
        api.DELETE('/firewall/groups/{id}/rules/{rule_id}', {
          params: { path: { id: group, rule_id: rule } },
          ...attempt,
        }),
      { ...options, ignoreNotFoundOnRetry: true },
    );
  }
}
