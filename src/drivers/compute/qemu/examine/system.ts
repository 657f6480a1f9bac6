/** What the kernel, its settings and the disk give. */
import { constants } from 'node:fs';
import { mkdir, open, statfs } from 'node:fs/promises';
import { totalmem } from 'node:os';
import type { Examined, Promised } from '../../../../ports/compute.ts';
import { run } from '../command.ts';
import type { QemuHost } from '../host.ts';

const SPACE_WANTED_GIB = 20;
/** What nothing may take that is made anew. */
const RESERVE_GIB = 2;
const GIB = 1024 ** 3;
const MIB = 1024 ** 2;

export async function devices({ options }: QemuHost): Promise<Examined[]> {
  const what = 'devices';
  const found: Examined[] = [];
  if (!(await opens('/dev/net/tun'))) {
    found.push({ level: 'look', what, says: '/dev/net/tun cannot be opened: modprobe tun' });
  }
  if (options.accelerator === 'tcg') {
    const says = 'SKERRY_QEMU_ACCELERATOR=tcg: the processor is emulated, many times slower; never sell that';
    found.push({ level: 'note', what, says });
  } else if (!(await opens('/dev/kvm'))) {
    const says =
      '/dev/kvm cannot be opened: switch virtualisation on in the firmware and modprobe kvm_intel or kvm_amd; ' +
      'a rented virtual machine may have none';
    found.push({ level: 'look', what, says });
  }
  return found.length > 0 ? found : [{ level: 'ok', what, says: '/dev/kvm and /dev/net/tun open' }];
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

export async function kernel(): Promise<Examined[]> {
  const what = 'kernel';
  try {
    await run('unshare', ['--net', 'nft', '-f', '-'], { input: RULES });
    return [{ level: 'ok', what, says: 'takes the packet filter' }];
  } catch (error) {
    const why = error instanceof Error ? error.message : '';
    const says = `the packet filter cannot be loaded (${why}): modprobe nf_tables nft_ct nft_reject_inet, or a newer kernel`;
    return [{ level: 'look', what, says }];
  }
}

const FORWARDING = { 'net.ipv4.ip_forward': 'IPv4', 'net.ipv6.conf.all.forwarding': 'IPv6' } as const;

export async function forwarding(host: QemuHost): Promise<Examined[]> {
  const what = 'forwarding';
  const off: string[] = [];
  for (const name of Object.keys(FORWARDING)) {
    const path = `/proc/sys/${name.replaceAll('.', '/')}`;
    const text = await host.runInNet('cat', [path]).catch(() => '0');
    if (text.trim() === '0') off.push(name);
  }
  if (off.length === 0) return [{ level: 'ok', what, says: 'IPv4 and IPv6 are forwarded' }];
  const lines = off.map((name) => `${name}=1`).join(' and ');
  const says = `this machine does not forward: put ${lines} into /etc/sysctl.d/60-skerry.conf and run sysctl --system`;
  return [{ level: 'look', what, says }];
}

/** Without a way out a guest would be up and nobody could reach it. */
export async function addresses(host: QemuHost): Promise<Examined[]> {
  const what = 'routes';
  const found: Examined[] = [];
  for (const family of ['4', '6'] as const) {
    const routes = await host.runInNet('ip', [`-${family}`, 'route', 'show', 'default']).catch(() => '');
    if (routes.trim() !== '') continue;
    found.push({
      level: 'note',
      what,
      says: `no default route for IPv${family}: servers are not reached by it`,
    });
  }
  return found.length > 0 ? found : [{ level: 'ok', what, says: 'default routes for IPv4 and IPv6' }];
}

export async function space({ layout }: QemuHost): Promise<Examined[]> {
  const what = 'space';
  await mkdir(layout.dir, { recursive: true, mode: 0o700 });
  const { bavail, bsize } = await statfs(layout.dir);
  const free = Math.floor((bavail * bsize) / GIB);
  if (free >= SPACE_WANTED_GIB) return [{ level: 'ok', what, says: `${free} GiB free for disks` }];
  const says = `${free} GiB free in SKERRY_QEMU_DIR: give it a disk of its own, ${SPACE_WANTED_GIB} GiB at the least`;
  return [{ level: 'look', what, says }];
}

/** Memory is promised to guests whole, and so is disk: what is free beyond it is all that snapshots get. */
export async function promises({ layout }: QemuHost, { ramMb, diskGb }: Promised): Promise<Examined[]> {
  const what = 'inventory';
  const hasMb = Math.floor(totalmem() / MIB);
  const { blocks, bsize } = await statfs(layout.dir);
  const hasGb = Math.floor((blocks * bsize) / GIB);
  const found: Examined[] = [];
  if (ramMb > hasMb) {
    const says = `the inventory promises ${ramMb} MiB of memory, this machine has ${hasMb}: skerryd hosts resize`;
    found.push({ level: 'look', what, says });
  }
  if (diskGb + RESERVE_GIB >= hasGb) {
    const says =
      `the inventory promises ${diskGb} GiB of disk, SKERRY_QEMU_DIR has ${hasGb}: once it is sold there are no snapshots, ` +
      'and guests are halted when it is full: skerryd hosts resize';
    found.push({ level: 'look', what, says });
  }
  return found;
}

/** What comes for an address that no server has must end here: by the default route it would come back, again and again. */
export async function blackHoles(host: QemuHost, { unused }: Promised): Promise<Examined[]> {
  let leaving = 0;
  for (const address of unused) {
    // It fails where there is no way, and so no round.
    const route = await host.runInNet('ip', ['route', 'get', 'fibmatch', address]).catch(() => '');
    if (route.startsWith('default ')) leaving += 1;
  }
  if (leaving === 0) return [];
  const says =
    `${leaving} of the inventory's ${unused.length} blocks lead out by the default route where no server is: packets go ` +
    'round until they die; systemctl enable --now skerry-blackhole@… for each block';
  return [{ level: 'look', what: 'routes', says }];
}

async function opens(path: string): Promise<boolean> {
  try {
    await (await open(path, constants.O_RDWR)).close();
    return true;
  } catch {
    // Whatever the reason, QEMU would meet it too.
    return false;
  }
}
