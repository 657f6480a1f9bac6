/**
 * QEMU's own name records what it was started for. If we are killed between two steps, a later check detects
 * a QEMU that runs an outdated configuration.
 */
import type { MachineRecord } from '../record.ts';

const DIGEST_CHARS = 16;

/** Returns the name for what the record wants to boot: its disk, or the rescue system with this password. */
export function bootName({ spec, generation, rescue }: MachineRecord): string {
  const target = rescue === null ? 'disk' : `rescue-${rescue.slice(0, DIGEST_CHARS)}`;
  return `${spec.id}/${generation}/${target}`;
}

export function isRescueBoot(name: string): boolean {
  return /\/rescue-[^/]+$/.test(name);
}

export function runsOwnDisk(name: string, { spec, generation }: MachineRecord): boolean {
  return name === `${spec.id}/${generation}/disk`;
}
