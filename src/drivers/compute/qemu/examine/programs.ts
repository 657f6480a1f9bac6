/** Who runs the service, which programs are there, and what the kernel lets it limit. */
import { constants } from 'node:fs';
import { access } from 'node:fs/promises';
import { delimiter, join } from 'node:path';
import type { Examined } from '../../../../ports/compute.ts';
import { limitsState } from '../metrics/cgroup.ts';

/** Each program that the driver calls, and the Debian package that brings it. */
const PROGRAMS: Readonly<Record<string, string>> = {
  'qemu-system-x86_64': 'qemu-system-x86',
  'qemu-img': 'qemu-utils',
  ip: 'iproute2',
  tc: 'iproute2',
  nft: 'nftables',
  sysctl: 'procps',
  xorriso: 'xorriso',
  flock: 'util-linux',
  nsenter: 'util-linux',
  setpriv: 'util-linux',
};

export async function user(): Promise<Examined[]> {
  if (process.getuid?.() === 0) return [{ level: 'ok', what: 'user', says: 'root' }];
  const says = 'the service must run as root: it makes network interfaces, packet filters and limits';
  return [{ level: 'look', what: 'user', says }];
}

export async function programs(): Promise<Examined[]> {
  const missing: string[] = [];
  for (const program of Object.keys(PROGRAMS)) if (!(await isThere(program))) missing.push(program);
  if (missing.length === 0) return [{ level: 'ok', what: 'programs', says: 'all are installed' }];
  const packages = [...new Set(missing.map((program) => PROGRAMS[program]))].join(' ');
  return missing.map((program) => ({
    level: 'look',
    what: 'programs',
    says: `${program} is missing: apt-get install --no-install-recommends ${packages}`,
  }));
}

export async function limits(): Promise<Examined[]> {
  const what = 'limits';
  if ((await limitsState()) === 'v2')
    return [{ level: 'ok', what, says: 'processor and memory by cgroup v2' }];
  const says =
    'no cgroup v2 with the cpu and memory controllers: a busy server takes processor time from the others; ' +
    'boot with systemd.unified_cgroup_hierarchy=1';
  return [{ level: 'note', what, says }];
}

async function isThere(program: string): Promise<boolean> {
  for (const folder of (process.env.PATH ?? '').split(delimiter)) {
    const found = await access(join(folder, program), constants.X_OK).then(
      () => true,
      () => false,
    );
    if (found) return true;
  }
  return false;
}
