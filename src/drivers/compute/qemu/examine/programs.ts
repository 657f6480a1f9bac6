/** Checks the user, the installed programs, and the resource limits of the kernel. */
import { constants } from 'node:fs';
import { access } from 'node:fs/promises';
import { delimiter, join } from 'node:path';
import type { HostFinding } from '../../../../ports/compute.ts';
import { readLimitsState } from '../metrics/cgroup.ts';

/** Every program that the driver runs, with its Debian package. */
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

export async function checkUser(): Promise<HostFinding[]> {
  if (process.getuid?.() === 0) return [{ level: 'ok', subject: 'user', message: 'root' }];
  const message = 'the service must run as root to create network interfaces, packet filters, and limits';
  return [{ level: 'fail', subject: 'user', message }];
}

export async function checkPrograms(): Promise<HostFinding[]> {
  const missing: string[] = [];
  for (const program of Object.keys(PROGRAMS)) if (!(await isInstalled(program))) missing.push(program);
  if (missing.length === 0) return [{ level: 'ok', subject: 'programs', message: 'all installed' }];
  const packages = [...new Set(missing.map((program) => PROGRAMS[program]))].join(' ');
  return missing.map((program) => ({
    level: 'fail',
    subject: 'programs',
    message: `${program} is missing: apt-get install --no-install-recommends ${packages}`,
  }));
}

export async function checkLimits(): Promise<HostFinding[]> {
  const subject = 'limits';
  if ((await readLimitsState()) === 'v2')
    return [{ level: 'ok', subject, message: 'CPU and memory limits with cgroup v2' }];
  const message =
    'no cgroup v2 with the cpu and memory controllers: a busy server slows down the others; ' +
    'boot with systemd.unified_cgroup_hierarchy=1';
  return [{ level: 'note', subject, message }];
}

async function isInstalled(program: string): Promise<boolean> {
  for (const folder of (process.env.PATH ?? '').split(delimiter)) {
    const isExecutable = await access(join(folder, program), constants.X_OK).then(
      () => true,
      () => false,
    );
    if (isExecutable) return true;
  }
  return false;
}
