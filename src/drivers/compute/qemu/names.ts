/** What a machine is called in places that take short names only. Each is made from its id, and always the same. */
import { createHash } from 'node:crypto';

/** The interface of the host that leads to the machine: at most 15 characters. */
export function tapName(id: string): string {
  return `sk${digest(id).slice(0, 12)}`;
}

/** A MAC address of the locally administered range. */
export function macAddress(id: string): string {
  const bytes = digest(id).slice(12, 20).match(/../g) ?? [];
  return `52:54:${bytes.join(':')}`;
}

/** What the guest sees as the serial number of a volume: virtio-blk has room for 20 characters. */
export function volumeSerial(volumeId: string): string {
  return digest(volumeId).slice(0, 20);
}

function digest(id: string): string {
  return createHash('sha256').update(id).digest('hex');
}
