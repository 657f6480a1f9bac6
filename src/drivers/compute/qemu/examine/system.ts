/** Checks the user, the installed programs, the kernel and its settings, and the disk. */
import { constants } from 'node:fs';
import { access, mkdir, open, statfs } from 'node:fs/promises';
import { totalmem } from 'node:os';
import { delimiter, join } from 'node:path';
import type { ExpectedResources, HostFinding } from '../../../../ports/compute.ts';
import { run } from '../command.ts';
import type { QemuHost } from '../host.ts';
import { readLimitsState } from '../machine/cgroup.ts';
import { freeBytes, GIB } from '../space.ts';

type HostCheck = (host: QemuHost) => Promise<readonly HostFinding[]>;

/** Ordered by dependency. */
export const HOST_CHECKS: readonly HostCheck[] = [
  checkUser,
  checkPrograms,
  checkDevices,
  checkKernel,
  checkForwarding,
  checkRoutes,
  checkLimits,
  checkSpace,
];

const SPACE_MIN_GIB = 20;
/** Disk space that new files never use. */
const RESERVE_GIB = 2;
const MIB = 1024 ** 2;

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

async function checkUser(): Promise<HostFinding[]> {
  if (process.getuid?.() === 0) return [{ level: 'ok', subject: 'user', message: 'root' }];
  const message = 'the service must run as root to create network interfaces, packet filters, and limits';
  return [{ level: 'fail', subject: 'user', message }];
}

async function checkPrograms(): Promise<HostFinding[]> {
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

async function checkDevices({ options }: QemuHost): Promise<HostFinding[]> {
  const subject = 'devices';
  const findings: HostFinding[] = [];
  if (!(await canOpen('/dev/net/tun'))) {
    findings.push({ level: 'fail', subject, message: 'cannot open /dev/net/tun: modprobe tun' });
  }
  if (options.accelerator === 'tcg') {
    const message =
      'SKERRY_QEMU_ACCELERATOR=tcg: the CPU is emulated and many times slower; do not sell such servers';
    findings.push({ level: 'note', subject, message });
  } else if (!(await canOpen('/dev/kvm'))) {
    const message =
      'cannot open /dev/kvm: enable virtualization in the firmware and modprobe kvm_intel or kvm_amd; ' +
      'a rented virtual machine may not support it';
    findings.push({ level: 'fail', subject, message });
  }
  return findings.length > 0
    ? findings
    : [{ level: 'ok', subject, message: '/dev/kvm and /dev/net/tun can be opened' }];
}

/** A sample of our packet filter. It is loaded in a separate network namespace, so nothing changes here. */
const RULES = `table inet skerry_examined {
  map to { type ifname : verdict; }
  chain before { type filter hook prerouting priority raw; policy accept;
    ether saddr 52:54:00:00:00:01 ip saddr 192.0.2.1 accept
  }
  chain forward { type filter hook forward priority filter; policy accept;
    oifname vmap @to
    ct state established,related accept
    tcp dport { 22, 80-90 } reject with tcp reset
    meta l4proto icmp reject with icmpx admin-prohibited
  }
}
table arp skerry_examined {
  chain in { type filter hook input priority filter; policy accept;
    arp saddr ip 192.0.2.1 accept
  }
}
`;

async function checkKernel(): Promise<HostFinding[]> {
  const subject = 'kernel';
  try {
    await run('unshare', ['--net', 'nft', '-f', '-'], { input: RULES });
    return [{ level: 'ok', subject, message: 'the packet filter loads' }];
  } catch (error) {
    const reason = error instanceof Error ? error.message : '';
    const message =
      `cannot load the packet filter (${reason}): ` +
      'modprobe nf_tables nft_ct nft_reject_inet, or use a newer kernel';
    return [{ level: 'fail', subject, message }];
  }
}

const FORWARDING = { 'net.ipv4.ip_forward': 'IPv4', 'net.ipv6.conf.all.forwarding': 'IPv6' } as const;

async function checkForwarding(host: QemuHost): Promise<HostFinding[]> {
  const subject = 'forwarding';
  const off: string[] = [];
  for (const name of Object.keys(FORWARDING)) {
    const path = `/proc/sys/${name.replaceAll('.', '/')}`;
    const text = await host.runInNet('cat', [path]).catch(() => '0');
    if (text.trim() === '0') off.push(name);
  }
  if (off.length === 0) return [{ level: 'ok', subject, message: 'IPv4 and IPv6 forwarding is on' }];
  const lines = off.map((name) => `${name}=1`).join(' and ');
  const message = `forwarding is off: add ${lines} to /etc/sysctl.d/60-skerry.conf and run sysctl --system`;
  return [{ level: 'fail', subject, message }];
}

/** Without a default route, a guest runs but is unreachable. */
async function checkRoutes(host: QemuHost): Promise<HostFinding[]> {
  const subject = 'routes';
  const findings: HostFinding[] = [];
  for (const family of ['4', '6'] as const) {
    const routes = await host.runInNet('ip', [`-${family}`, 'route', 'show', 'default']).catch(() => '');
    if (routes.trim() !== '') continue;
    findings.push({
      level: 'note',
      subject,
      message: `no default route for IPv${family}: servers are unreachable over it`,
    });
  }
  return findings.length > 0
    ? findings
    : [{ level: 'ok', subject, message: 'default routes for IPv4 and IPv6' }];
}

async function checkSpace({ layout }: QemuHost): Promise<HostFinding[]> {
  const subject = 'space';
  await mkdir(layout.dir, { recursive: true, mode: 0o700 });
  const free = Math.floor((await freeBytes(layout.dir)) / GIB);
  if (free >= SPACE_MIN_GIB) return [{ level: 'ok', subject, message: `${free} GiB free for disks` }];
  const message =
    `${free} GiB free in SKERRY_QEMU_DIR: ` + `use a separate disk with at least ${SPACE_MIN_GIB} GiB free`;
  return [{ level: 'fail', subject, message }];
}

/** Memory and disk are reserved for guests in full. Snapshots use only the disk space beyond that. */
export async function checkCapacity(
  { layout }: QemuHost,
  { ramMb, diskGb }: ExpectedResources,
): Promise<HostFinding[]> {
  const subject = 'inventory';
  const totalMb = Math.floor(totalmem() / MIB);
  const { blocks, bsize } = await statfs(layout.dir);
  const totalGb = Math.floor((blocks * bsize) / GIB);
  const findings: HostFinding[] = [];
  if (ramMb > totalMb) {
    const message =
      `the inventory promises ${ramMb} MiB of memory, but this machine has ${totalMb}: ` +
      'skerryd hosts resize';
    findings.push({ level: 'fail', subject, message });
  }
  if (diskGb + RESERVE_GIB >= totalGb) {
    const message =
      `the inventory promises ${diskGb} GiB of disk, but SKERRY_QEMU_DIR has ${totalGb}: once sold out, ` +
      'snapshots fail, and guests halt when the disk is full: skerryd hosts resize';
    findings.push({ level: 'fail', subject, message });
  }
  return findings;
}

/**
 * Packets for unassigned addresses must be dropped here. The default route would bounce them back and forth.
 */
export async function checkBlackholes(
  host: QemuHost,
  { unusedAddresses }: ExpectedResources,
): Promise<HostFinding[]> {
  let leakingCount = 0;
  for (const address of unusedAddresses) {
    // The command fails if there is no route, which means no loop either.
    const route = await host.runInNet('ip', ['route', 'get', 'fibmatch', address]).catch(() => '');
    if (route.startsWith('default ')) leakingCount += 1;
  }
  if (leakingCount === 0) return [];
  const message =
    `${leakingCount} of the inventory's ${unusedAddresses.length} blocks use the default route ` +
    'for unassigned addresses, so packets loop: systemctl enable --now skerry-blackhole@… for each block';
  return [{ level: 'fail', subject: 'routes', message }];
}

async function checkLimits(): Promise<HostFinding[]> {
  const subject = 'limits';
  if ((await readLimitsState()) === 'v2')
    return [{ level: 'ok', subject, message: 'CPU and memory limits with cgroup v2' }];
  const message =
    'no cgroup v2 with the cpu and memory controllers: a busy server slows down the others; ' +
    'boot with systemd.unified_cgroup_hierarchy=1';
  return [{ level: 'note', subject, message }];
}

async function canOpen(path: string): Promise<boolean> {
  try {
    await (await open(path, constants.O_RDWR)).close();
    return true;
  } catch {
    // QEMU would fail for the same reason.
    return false;
  }
}

/** Checks the user, the installed programs, and the resource limits of the kernel. */

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
