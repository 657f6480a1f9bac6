/** Resource IDs by the names in actions: known ones, and those created during the run. */

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

  /** Fails if the step that should have created the resource did not. */
  get(kind: Kind, name: string): string {
    const id = this.find(kind, name);
    if (id === undefined) throw new Error(`${formatKind(kind)} "${name}" was not created`);
    return id;
  }
}
