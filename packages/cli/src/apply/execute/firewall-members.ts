/** Members of firewall groups. The API replaces the whole list: it is read right before, so others stay. */
import type { Action } from '../plan/plan.ts';
import type { ResourceIds, RunContext } from './state.ts';

type ApplyGroup = Extract<Action, { do: 'apply_group' }>;

export class FirewallMembers {
  readonly #run: RunContext;
  readonly #ids: ResourceIds;
  /** IDs of the project's servers when the plan was made. */
  readonly #projectServerIds: ReadonlySet<string>;
  /** The latest write per group; concurrent writes would undo each other. */
  readonly #lastByGroup = new Map<string, Promise<void>>();

  constructor(run: RunContext, ids: ResourceIds, own: ReadonlySet<string>) {
    this.#run = run;
    this.#ids = ids;
    this.#projectServerIds = own;
  }

  /** Adds the servers that exist by now, and removes none. */
  add(act: ApplyGroup): Promise<void> {
    return this.#enqueue(act.group, (now) => [...new Set([...now, ...this.#createdIds(act)])]);
  }

  /** Applies the plan; servers that were added by others since stay. */
  async apply(act: ApplyGroup): Promise<void> {
    await this.#enqueue(act.group, (now) => {
      const kept = now.filter((id) => !act.removedIds.includes(id));
      return [...new Set([...kept, ...this.#createdIds(act)])];
    });
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
    await skerry.firewallGroups.update(id, { applied_to: [] }, { signal });
  }

  #createdIds({ servers }: ApplyGroup): string[] {
    return servers.flatMap((name) => this.#ids.find('server', name) ?? []);
  }

  #enqueue(group: string, change: (now: readonly string[]) => string[]): Promise<void> {
    const before = this.#lastByGroup.get(group) ?? Promise.resolve();
    const turn = before.catch(() => undefined).then(() => this.#write(group, change));
    this.#lastByGroup.set(group, turn);
    return turn;
  }

  async #write(group: string, change: (now: readonly string[]) => string[]): Promise<void> {
    const { skerry, signal } = this.#run;
    const id = this.#ids.get('firewall_group', group);
    const { applied_to: now } = await skerry.firewallGroups.get(id, { signal });
    const wanted = change(now);
    if (wanted.length === now.length && wanted.every((server) => now.includes(server))) return;
    await skerry.firewallGroups.update(id, { applied_to: wanted }, { signal });
  }
}
