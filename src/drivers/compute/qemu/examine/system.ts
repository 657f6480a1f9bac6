/** What the kernel, its settings and the disk give. */
import { constants } from 'node:fs';
import { mkdir, open, statfs } from 'node:fs/promises';
import { totalmem } from 'node:os';
import type { ExpectedResources, HostFinding } from '../../../../ports/compute.ts';
import { run } from '../command.ts';
import type { QemuHost } from '../host.ts';

const SPACE_MIN_GIB = 20;
/** What nothing may take that is made anew. */
const RESERVE_GIB = 2;
const GIB = 1024 ** 3;
const MIB = 1024 ** 2;

export async function checkDevices({ options }: QemuHost): Promise<HostFinding[]> {
  const subject = 'devices';
  const findings: HostFinding[] = [];
  if (!(await canOpen('/dev/net/tun'))) {
    findings.push({ level: 'fail', subject, message: '/dev/net/tun cannot be opened: modprobe tun' });
  }
  if (options.accelerator === 'tcg') {
    const message =
      'SKERRY_QEMU_ACCELERATOR=tcg: the processor is emulated, many times slower; never sell that';
    findings.push({ level: 'note', subject, message });
  } else if (!(await canOpen('/dev/kvm'))) {
    const message =
      '/dev/kvm cannot be opened: switch virtualisation on in the firmware and modprobe kvm_intel or kvm_amd; ' +
      'a rented virtual machine may have none';
    findings.push({ level: 'fail', subject, message });
  }
  return findings.length > 0
    ? findings
    : [{ level: 'ok', subject, message: '/dev/kvm and /dev/net/tun open' }];
}

/** What the packet filter is made of; loaded in a network of its own, so that nothing here changes. */
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

export async function checkKernel(): Promise<HostFinding[]> {
  const subject = 'kernel';
  try {
    await run('unshare', ['--net', 'nft', '-f', '-'], { input: RULES });
    return [{ level: 'ok', subject, message: 'takes the packet filter' }];
  } catch (error) {
    const reason = error instanceof Error ? error.message : '';
    const message = `the packet filter cannot be loaded (${reason}): modprobe nf_tables nft_ct nft_reject_inet, or a newer kernel`;
    return [{ level: 'fail', subject, message }];
  }
}

const FORWARDING = { 'net.ipv4.ip_forward': 'IPv4', 'net.ipv6.conf.all.forwarding': 'IPv6' } as const;

export async function checkForwarding(host: QemuHost): Promise<HostFinding[]> {
  const subject = 'forwarding';
  const off: string[] = [];
  for (const name of Object.keys(FORWARDING)) {
    const path = `/proc/sys/${name.replaceAll('.', '/')}`;
    const text = await host.runInNet('cat', [path]).catch(() => '0');
    if (text.trim() === '0') off.push(name);
  }
  if (off.length === 0) return [{ level: 'ok', subject, message: 'IPv4 and IPv6 are forwarded' }];
  const lines = off.map((name) => `${name}=1`).join(' and ');
  const message = `this machine does not forward: put ${lines} into /etc/sysctl.d/60-skerry.conf and run sysctl --system`;
  return [{ level: 'fail', subject, message }];
}

/** Without a way out a guest would be up and nobody could reach it. */
export async function checkRoutes(host: QemuHost): Promise<HostFinding[]> {
  const subject = 'routes';
  const findings: HostFinding[] = [];
  for (const family of ['4', '6'] as const) {
    const routes = await host.runInNet('ip', [`-${family}`, 'route', 'show', 'default']).catch(() => '');
    if (routes.trim() !== '') continue;
    findings.push({
      level: 'note',
      subject,
      message: `no default route for IPv${family}: servers are not reached by it`,
    });
  }
  return findings.length > 0
    ? findings
    : [{ level: 'ok', subject, message: 'default routes for IPv4 and IPv6' }];
}

export async function checkSpace({ layout }: QemuHost): Promise<HostFinding[]> {
  const subject = 'space';
  await mkdir(layout.dir, { recursive: true, mode: 0o700 });
  const { bavail, bsize } = await statfs(layout.dir);
  const free = Math.floor((bavail * bsize) / GIB);
  if (free >= SPACE_MIN_GIB) return [{ level: 'ok', subject, message: `${free} GiB free for disks` }];
  const message = `${free} GiB free in SKERRY_QEMU_DIR: give it a disk of its own, ${SPACE_MIN_GIB} GiB at the least`;
  return [{ level: 'fail', subject, message }];
}

/** Memory is promised to guests whole, and so is disk: what is free beyond it is all that snapshots get. */
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
    const message = `the inventory promises ${ramMb} MiB of memory, this machine has ${totalMb}: skerryd hosts resize`;
    findings.push({ level: 'fail', subject, message });
  }
  if (diskGb + RESERVE_GIB >= totalGb) {
    const message =
      `the inventory promises ${diskGb} GiB of disk, SKERRY_QEMU_DIR has ${totalGb}: once it is sold there are no snapshots, ` +
      'and guests are halted when it is full: skerryd hosts resize';
    findings.push({ level: 'fail', subject, message });
  }
  return findings;
}

/** What comes for an address that no server has must end here: by the default route it would come back, again and again. */
export async function checkBlackholes(
  host: QemuHost,
  { unusedAddresses }: ExpectedResources,
): Promise<HostFinding[]> {
  let leakingCount = 0;
  for (const address of unusedAddresses) {
    // It fails where there is no way, and so no round.
    const route = await host.runInNet('ip', ['route', 'get', 'fibmatch', address]).catch(() => '');
    if (route.startsWith('default ')) leakingCount += 1;
  }
  if (leakingCount === 0) return [];
  const message =
    `${leakingCount} of the inventory's ${unusedAddresses.length} blocks lead out by the default route where no server is: packets go ` +
    'round until they die; systemctl enable --now skerry-blackhole@… for each block';
  return [{ level: 'fail', subject: 'routes', message }];
}

async function canOpen(path: string): Promise<boolean> {
  try {
    await (await open(path, constants.O_RDWR)).close();
    return true;
  } catch {
    // Whatever the reason, QEMU would meet it too.
    return false;
  }
}
