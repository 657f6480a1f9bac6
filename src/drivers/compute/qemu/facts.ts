/** Facts about this machine: how busy and how full it is. */
import { mkdir, statfs } from 'node:fs/promises';
import { availableParallelism, freemem, loadavg, totalmem, uptime } from 'node:os';
import { readVersion } from '../../../kernel/settings/version.ts';
import type { HostFacts } from '../../../ports/host-facts.ts';
import type { QemuHost } from './host.ts';
import { GIB } from './space.ts';

const MIB = 1024 ** 2;

/** Returns the same facts under each of the machine's names. */
export async function readFacts({ layout, options }: QemuHost): Promise<HostFacts[]> {
  await mkdir(layout.dir, { recursive: true, mode: 0o700 });
  const { blocks, bavail, bsize } = await statfs(layout.dir);
  const cores = availableParallelism();
  const [, fiveMinutes = 0] = loadavg();
  const facts = {
    version: readVersion(),
    time: new Date(),
    uptimeS: Math.floor(uptime()),
    cores,
    load: fiveMinutes / cores,
    ramMb: Math.floor(totalmem() / MIB),
    // On Linux this includes the memory of caches.
    ramAvailableMb: Math.floor(freemem() / MIB),
    diskGb: (blocks * bsize) / GIB,
    diskFreeGb: (bavail * bsize) / GIB,
  };
  return options.hosts.map((host) => ({ host, ...facts }));
}
