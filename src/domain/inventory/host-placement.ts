/** Tags of hosts that plans ask for, and the reserve of a host: with its size they decide what it takes. */
import { OperatorError } from '../../kernel/operator-error.ts';
import { LIMITS } from '../../spec/limits.ts';
import { lockHost, setHostPlacement } from '../../store/inventory/hosts.ts';
import type { Service } from '../context.ts';
import { recordAudit, systemActor } from '../record.ts';

export const HOST_TAG_PATTERN = '^[a-z0-9][a-z0-9-]{0,31}$';
export const HOST_TAG_EXPECTED = 'a tag of at most 32 lowercase letters, digits, and dashes, such as nvme';

export interface HostPlacement {
  readonly tags: readonly string[];
  /** Kept free of new servers and volumes, for servers that leave other hosts. */
  readonly reserveRamMb: number;
  readonly reserveDiskGb: number;
}

/** Refuses tags that no plan can ask for, and a reserve that is larger than the host. */
export function requirePlacement(
  host: { readonly name: string; readonly ramMb: number; readonly diskGb: number },
  { tags = [], reserveRamMb = 0, reserveDiskGb = 0 }: Partial<HostPlacement>,
): void {
  if (!tags.every((tag) => new RegExp(HOST_TAG_PATTERN).test(tag)))
    throw new OperatorError(`--tag: enter ${HOST_TAG_EXPECTED}`);
  if (new Set(tags).size > LIMITS.hostTags)
    throw new OperatorError(`--tag: a host has at most ${LIMITS.hostTags} tags`);
  if (reserveRamMb > host.ramMb)
    throw new OperatorError(`--reserve-ram-mb: host ${host.name} has ${host.ramMb} MiB for servers`);
  if (reserveDiskGb > host.diskGb)
    throw new OperatorError(`--reserve-disk-gb: host ${host.name} has ${host.diskGb} GiB for servers`);
}

/** Changes what is given. Servers that are on the host stay there. */
export async function changeHostPlacement(
  { db, clock }: Pick<Service, 'db' | 'clock'>,
  name: string,
  change: Partial<HostPlacement>,
): Promise<HostPlacement> {
  const now = clock.now();
  return await db.transaction(async (tx) => {
    const host = await lockHost(tx, name);
    if (host === undefined) throw new OperatorError(`host ${name} not found: see \`skerryd hosts list\``);
    requirePlacement({ name, ramMb: host.ram_mb, diskGb: host.disk_gb }, change);
    const {
      tags = host.tags,
      reserveRamMb = host.reserve_ram_mb,
      reserveDiskGb = host.reserve_disk_gb,
    } = change;
    const placement = { tags: sortTags(tags), reserveRamMb, reserveDiskGb };
    await setHostPlacement(tx, name, placement);
    await recordAudit(tx, { actor: systemActor(now), action: 'host.set', resource: name }, now);
    return placement;
  });
}

export function sortTags(tags: readonly string[]): string[] {
  return [...new Set(tags)].toSorted();
}
