/** Members of firewall groups. */
import type { Action } from '../plan/plan.ts';
import type { ResourceIds, RunContext } from './state.ts';

type ApplyGroup = Extract<Action, { do: 'apply_group' }>;

export class FirewallMembers {
  readonly #run: RunContext;
  readonly #ids: ResourceIds;
  /** IDs of the project's servers when the plan was made. */
  readonly #projectServerIds: ReadonlySet<string>;

  constructor(run: RunContext, ids: ResourceIds, own: ReadonlySet<string>) {
    this.#run = run;
    this.#ids = ids;
    this.#projectServerIds = own;
  }

  /** Adds the servers that exist by now, and removes none. */
  add(act: ApplyGroup): Promise<void> {
    return this.#change(act.group, this.#createdIds(act), []);
  }

  /** Applies the plan; servers that were added by others since stay. */
  async apply(act: ApplyGroup): Promise<void> {
    await this.#change(act.group, this.#createdIds(act), act.removedIds);
    const missing = act.servers.filter((name) => this.#ids.find('server', name) === undefined);
    if (missing.length > 0) throw new Error(`not applied to ${missing.join(', ')}, which was not created`);
  }

  /** Empties the group before it is deleted. */
  async removeAll(id: string): Promise<void> {
    const { skerry, signal } = this.#run;
    const { applied_to } = await skerry.firewallGroups.get(id, { signal });
    const others = applied_to.filter((server) => !this.#projectServerIds.has(server)).length;
    if (others > 0) throw new Error('it has been applied to servers outside of the project');
    if (applied_to.length === 0) return;
    await skerry.firewallGroups.update(id, { detach: applied_to }, { signal });
  }

  #createdIds({ servers }: ApplyGroup): string[] {
    return servers.flatMap((name) => this.#ids.find('server', name) ?? []);
  }

  /** Skips servers that are already in the group, or no longer: they may be gone. */
  async #change(group: string, added: readonly string[], removed: readonly string[]): Promise<void> {
    const { skerry, signal } = this.#run;
    const id = this.#ids.get('firewall_group', group);
    const { applied_to: now } = await skerry.firewallGroups.get(id, { signal });
    const attach = added.filter((server) => !now.includes(server));
    const detach = removed.filter((server) => now.includes(server));
    if (attach.length + detach.length === 0) return;
    await skerry.firewallGroups.update(id, { attach, detach }, { signal });
  }
}
