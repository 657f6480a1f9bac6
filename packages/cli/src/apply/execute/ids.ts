/** Ids by the names that acts use: those of before, and those that are made on the way. */

import { formatKind } from '../plan/format-plan.ts';
import type { Kind, KnownIds } from '../plan/plan.ts';

export class ResourceIds {
  readonly #ids: Readonly<Record<Kind, Map<string, string>>>;

  constructor(known: KnownIds) {
    this.#ids = {
      ssh_key: new Map(known.ssh_key),
      firewall_group: new Map(known.firewall_group),
      volume: new Map(known.volume),
      server: new Map(known.server),
    };
  }

  set(kind: Kind, name: string, id: string): void {
    this.#ids[kind].set(name, id);
  }

  find(kind: Kind, name: string): string | undefined {
    return this.#ids[kind].get(name);
  }

  /** Of what another step has made, or was to make. */
  get(kind: Kind, name: string): string {
    const id = this.find(kind, name);
    if (id === undefined) throw new Error(`the ${formatKind(kind)} "${name}" was not made`);
    return id;
  }
}
