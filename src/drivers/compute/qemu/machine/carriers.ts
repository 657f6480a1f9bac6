/** Which machines' wires are whole, asked once for all of the host. */
import type { QemuHost } from '../host.ts';

interface Link {
  readonly ifname: string;
  readonly flags: readonly string[];
}

/** Whether the machine's tap is there and its QEMU has it open: one that was deleted and made anew is not. */
export type HasCarrier = (id: string) => boolean;

export async function readCarriers(host: QemuHost): Promise<HasCarrier> {
  const links = JSON.parse(await host.runInNet('ip', ['-json', 'link', 'show'])) as readonly Partial<Link>[];
  const up = new Set(links.filter(({ flags }) => flags?.includes('LOWER_UP')).map(({ ifname }) => ifname));
  return (id) => up.has(host.tap(id));
}
