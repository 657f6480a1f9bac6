/**
 * What a QEMU was started for. Its own name tells, so one that runs what is no longer wanted, because we were killed
 * between two steps, is known as such by whoever looks next.
 */
import type { MachineRecord } from '../record.ts';

const DIGEST_CHARS = 16;

/** What should be booted by the record: its disk, or the rescue system with this password. */
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
