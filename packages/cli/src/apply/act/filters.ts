/** Servers behind firewall groups. The list of a group is written as a whole: it is read right before, and what is not ours stays in it. */
import type { Skerry } from '@skerry/sdk';
import type { Act } from '../plan/plan.ts';
import type { Ids } from './ids.ts';

type ApplyGroup = Extract<Act, { do: 'apply_group' }>;

export class Filters {
  readonly #skerry: Skerry;
  readonly #signal: AbortSignal;
  readonly #ids: Ids;
  /** Ids of the servers that the project had when it was compared. */
  readonly #own: ReadonlySet<string>;
  /** By group: the last that was begun. Two at once would undo one another. */
  readonly #turns = new Map<string, Promise<void>>();

  constructor(skerry: Skerry, signal: AbortSignal, ids: Ids, own: ReadonlySet<string>) {
    this.#skerry = skerry;
    this.#signal = signal;
    this.#ids = ids;
    this.#own = own;
  }

  /** Puts the servers that are made by now behind the group, and takes none out. */
  add(act: ApplyGroup): Promise<void> {
    return this.#inTurn(act.group, (now) => [...new Set([...now, ...this.#made(act)])]);
  }

  /** As the plan says; who came in since stays. */
  async settle(act: ApplyGroup): Promise<void> {
    await this.#inTurn(act.group, (now) => {
      const kept = now.filter((id) => !act.leaves.includes(id));
      return [...new Set([...kept, ...this.#made(act)])];
    });
    const missing = act.servers.filter((name) => this.#ids.find('server', name) === undefined);
    if (missing.length > 0) throw new Error(`it is not applied to ${missing.join(', ')}, which was not made`);
  }

  /** Before it is deleted. */
  async empty(id: string): Promise<void> {
    const { applied_to } = await this.#skerry.firewallGroups.get(id, { signal: this.#signal });
    const others = applied_to.filter((server) => !this.#own.has(server)).length;
    if (others > 0) throw new Error('it has been applied to servers outside of the project meanwhile');
    if (applied_to.length === 0) return;
    await this.#skerry.firewallGroups.update(id, { applied_to: [] }, { signal: this.#signal });
  }

  #made({ servers }: ApplyGroup): string[] {
    return servers.flatMap((name) => this.#ids.find('server', name) ?? []);
  }

  #inTurn(group: string, change: (now: readonly string[]) => string[]): Promise<void> {
    const before = this.#turns.get(group) ?? Promise.resolve();
    const turn = before.catch(() => undefined).then(() => this.#write(group, change));
    this.#turns.set(group, turn);
    return turn;
  }

  async #write(group: string, change: (now: readonly string[]) => string[]): Promise<void> {
    const id = this.#ids.get('firewall_group', group);
    const { applied_to: now } = await this.#skerry.firewallGroups.get(id, { signal: this.#signal });
    const wanted = change(now);
    if (wanted.length === now.length && wanted.every((server) => now.includes(server))) return;
    await this.#skerry.firewallGroups.update(id, { applied_to: wanted }, { signal: this.#signal });
  }
}
