/** Checks which machines have a working network link, with one query for the whole host. */
import type { QemuHost } from '../host.ts';

interface Link {
  readonly ifname: string;
  readonly flags: readonly string[];
}

/** Whether the tap exists and QEMU has it open. A tap that was deleted and recreated has no carrier. */
export type HasCarrier = (id: string) => boolean;

export async function readCarriers(host: QemuHost): Promise<HasCarrier> {
  const links = JSON.parse(await host.runInNet('ip', ['-json', 'link', 'show'])) as readonly Partial<Link>[];
  const up = new Set(links.filter(({ flags }) => flags?.includes('LOWER_UP')).map(({ ifname }) => ifname));
  return (id) => up.has(host.tap(id));
}
