/** Checks the user, the installed programs, the kernel and its settings, and the disk. */
import { constants } from 'node:fs';
import { access, mkdir, open, stat, statfs } from 'node:fs/promises';
import { totalmem } from 'node:os';
import { delimiter, join } from 'node:path';
import { freeBytes } from '../../../../kernel/files.ts';
import type { ExpectedResources, HostFinding } from '../../../../ports/compute.ts';
import type { Filter } from '../../../../ports/network.ts';
import { run } from '../command.ts';
import type { QemuHost } from '../host.ts';
import { readLimitsState } from '../machine/cgroup.ts';
import { machineChains } from '../net/chains.ts';
import type { MachineLink } from '../net/link.ts';
import { machineRules } from '../net/ruleset.ts';
import { GIB } from '../space.ts';

/** Ordered by dependency. */
export const HOST_CHECKS: readonly ((host: QemuHost) => Promise<HostFinding[]>)[] = [
  checkUser,
  () => checkPrograms(),
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

type Problem = Pick<HostFinding, 'level' | 'message'>;
const fail = (message: string): Problem => ({ level: 'fail', message });
const note = (message: string): Problem => ({ level: 'note', message });

/** Returns the problems as findings, or one without a problem. */
function report(subject: string, problems: readonly Problem[], ok: string): HostFinding[] {
  if (problems.length === 0) return [{ level: 'ok', subject, message: ok }];
  return problems.map((problem) => ({ ...problem, subject }));
}

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
  unshare: 'util-linux',
  pivot_root: 'util-linux',
  mount: 'mount',
};

async function checkUser(): Promise<HostFinding[]> {
  const message = 'the service must run as root to create network interfaces, packet filters, and limits';
  return report('user', process.getuid?.() === 0 ? [] : [fail(message)], 'root');
}

/** For a machine that only keeps the disks of images. */
export const IMAGE_CHECKS: typeof HOST_CHECKS = [() => checkPrograms(['qemu-img']), checkSpace];

async function checkPrograms(needed = Object.keys(PROGRAMS)): Promise<HostFinding[]> {
  const missing: string[] = [];
  for (const program of needed) if (!(await isInstalled(program))) missing.push(program);
  const packages = [...new Set(missing.map((program) => PROGRAMS[program]))].join(' ');
  const fix = `apt-get install --no-install-recommends ${packages}`;
  return report(
    'programs',
    missing.map((program) => fail(`${program} is missing: ${fix}`)),
    'all installed',
  );
}

async function checkDevices({ options }: QemuHost): Promise<HostFinding[]> {
  const problems: Problem[] = [];
  if (!(await canOpen('/dev/net/tun'))) problems.push(fail('cannot open /dev/net/tun: modprobe tun'));
  if (options.accelerator === 'tcg') {
    const warning = 'the CPU is emulated and many times slower; do not sell such servers';
    problems.push(note(`SKERRY_QEMU_ACCELERATOR=tcg: ${warning}`));
  } else if (!(await canOpen('/dev/kvm'))) {
    const message =
      'cannot open /dev/kvm: enable virtualization in the firmware and modprobe kvm_intel or kvm_amd; ' +
      'a rented virtual machine may not support it';
    problems.push(fail(message));
  }
  return report('devices', problems, '/dev/kvm and /dev/net/tun can be opened');
}

/** A machine whose rules are loaded in a separate network namespace, so nothing changes here. */
const SAMPLE_LINK: MachineLink = {
  tap: 'skexamined',
  mac: '52:54:00:00:00:01',
  ipv4: { address: '192.0.2.10', gateway: '192.0.2.1' },
  ipv6: { address: '2001:db8:0:10::1', prefix: '2001:db8:0:10::/64' },
};
const SAMPLE_FILTER: Filter = {
  rules: [{ direction: 'in', proto: 'any', ports: [[22, 22]], remote: '0.0.0.0/0', action: 'reject' }],
  defaultIn: 'drop',
  defaultOut: 'accept',
};

async function checkKernel(): Promise<HostFinding[]> {
  const settings = { filter: SAMPLE_FILTER, traffic: { bitsPerS: null, mail: false } };
  const rules = machineRules(SAMPLE_LINK.tap, machineChains(SAMPLE_LINK, settings, []));
  const problems = await run('unshare', ['--net', 'nft', '-f', '-'], { input: `${rules.join('\n')}\n` }).then(
    () => [],
    ({ message }: Error) => [
      fail(
        `cannot load the packet filter (${message}): ` +
          'modprobe nf_tables nft_ct nft_reject_inet, or use a newer kernel',
      ),
    ],
  );
  return report('kernel', problems, 'the packet filter loads');
}

const FORWARDING = ['net.ipv4.ip_forward', 'net.ipv6.conf.all.forwarding'] as const;

async function checkForwarding(host: QemuHost): Promise<HostFinding[]> {
  const off: string[] = [];
  for (const name of FORWARDING) {
    const path = `/proc/sys/${name.replaceAll('.', '/')}`;
    const text = await host.runInNet('cat', [path]).catch(() => '0');
    if (text.trim() === '0') off.push(`${name}=1`);
  }
  const fix = `add ${off.join(' and ')} to /etc/sysctl.d/60-skerry.conf and run sysctl --system`;
  const problems = off.length > 0 ? [fail(`forwarding is off: ${fix}`)] : [];
  return report('forwarding', problems, 'IPv4 and IPv6 forwarding is on');
}

/** Without a default route, a guest runs but is unreachable. */
async function checkRoutes(host: QemuHost): Promise<HostFinding[]> {
  const problems: Problem[] = [];
  for (const family of ['4', '6'] as const) {
    const routes = await host.runInNet('ip', [`-${family}`, 'route', 'show', 'default']).catch(() => '');
    if (routes.trim() === '')
      problems.push(note(`no default route for IPv${family}: servers are unreachable over it`));
  }
  return report('routes', problems, 'default routes for IPv4 and IPv6');
}

async function checkLimits(): Promise<HostFinding[]> {
  const message =
    'no cgroup v2 with the cpu and memory controllers: a busy server slows down the others; ' +
    'boot with systemd.unified_cgroup_hierarchy=1';
  const problems = (await readLimitsState()) === 'v2' ? [] : [note(message)];
  return report('limits', problems, 'CPU and memory limits with cgroup v2');
}

async function checkSpace({ layout }: QemuHost): Promise<HostFinding[]> {
  await mkdir(layout.dir, { recursive: true, mode: 0o700 });
  const free = Math.floor((await freeBytes(layout.dir)) / GIB);
  const fix = `use a separate disk with at least ${SPACE_MIN_GIB} GiB free`;
  const problems = free < SPACE_MIN_GIB ? [fail(`${free} GiB free in SKERRY_QEMU_DIR: ${fix}`)] : [];
  const folders = [layout.dir, layout.machines(), layout.volumes(), layout.snapshots()];
  const devices = await Promise.all(
    folders.map((path) =>
      stat(path).then(
        ({ dev }) => dev,
        () => null,
      ),
    ),
  );
  if (new Set(devices.filter((dev) => dev !== null)).size > 1) {
    const message =
      'machines, volumes, and snapshots must be on one file system: servers get hard links to them';
    problems.push(fail(message));
  }
  return report('space', problems, `${free} GiB free for disks`);
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

async function canOpen(path: string): Promise<boolean> {
  try {
    await (await open(path, constants.O_RDWR)).close();
    return true;
  } catch {
    // QEMU would fail for the same reason.
    return false;
  }
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
