/** Short names of a machine, derived deterministically from its id. */
import { createHash } from 'node:crypto';

/** The host's network interface of the machine: at most 15 characters. */
export function tapName(id: string): string {
  return `sk${digest(id).slice(0, 12)}`;
}

/** A MAC address of the locally administered range. */
export function macAddress(id: string): string {
  const bytes = digest(id).slice(12, 20).match(/../g) ?? [];
  return `52:54:${bytes.join(':')}`;
}

/** The serial number of a volume as the guest sees it: virtio-blk allows 20 characters. */
export function volumeSerial(volumeId: string): string {
  return digest(volumeId).slice(0, 20);
}

function digest(id: string): string {
  return createHash('sha256').update(id).digest('hex');
}
