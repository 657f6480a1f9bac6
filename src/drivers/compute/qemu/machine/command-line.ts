/**
 * QEMU's command line. It names every device that the guest sees; there are no defaults. It contains no
 * secrets, since the host's process list shows it.
 */
import { qmpSocketArg } from '../processes.ts';

export interface CommandLine {
  readonly name: string;
  readonly accelerator: 'kvm' | 'tcg';
  readonly cpu: number;
  readonly ramMb: number;
  /** Paths of the sockets and the pid file. */
  readonly run: {
    readonly qmp: string;
    readonly queryQmp: string;
    readonly vnc: string;
    readonly pid: string;
  };
  /**
   * Paths of qcow2 files. The rescue system's disk boots before the machine's own. Null: its own disk is
   * shared, and plugged in before the guest runs.
   */
  readonly disk: string | null;
  readonly rescueDisk: string | null;
  /**
   * Path of the CD: a seed, or a customer's ISO, which boots if the disk does not. Null: the drive is empty.
   */
  readonly cd: string | null;
  /** The drive for ISO images. Null: it has none, since the QEMU that a guest comes from has none. */
  readonly isoDrive: {
    /** Null: it is empty. */
    readonly iso: string | null;
    /** It boots before the machine's own disk. */
    readonly boots: boolean;
  } | null;
  readonly tap: string;
  readonly mac: string;
}

/**
 * Slots on the PCI bus. Guests name disks in this order, so volumes come last: one slot per device letter,
 * from 0x10 on.
 */
const SLOT = {
  screen: '0x2',
  rescue: '0x3',
  disk: '0x4',
  net: '0x5',
  random: '0x6',
  balloon: '0x7',
  usb: '0x8',
} as const;

/**
 * Denies everything an emulator does not need: new processes, other users, scheduling, obsolete system calls.
 */
const SANDBOX = 'on,obsolete=deny,elevateprivileges=deny,spawn=deny,resourcecontrol=deny';

/** Size of the in-memory buffer for the guest's last serial output. */
const SERIAL_BYTES = 65_536;

/** One option with its value, if it has one. */
type Option = readonly [name: string, value?: string];

export function buildCommandLine(line: CommandLine): string[] {
  const options: readonly Option[] = [
    ['-name', line.name],
    ...machineOptions(line),
    ...controlOptions(line.run),
    ...rootDisks(line),
    ...cdDrive(line.cd),
    ...isoDrive(line),
    ...networkOptions(line),
    ...auxiliaryDevices(),
  ];
  return options.flatMap(([name, value]) => (value === undefined ? [name] : [name, value]));
}

function machineOptions({ accelerator, cpu, ramMb }: CommandLine): Option[] {
  return [
    ['-no-user-config'],
    ['-nodefaults'],
    ['-machine', `pc,accel=${accelerator},usb=off,vmport=off,dump-guest-core=off`],
    ['-cpu', accelerator === 'kvm' ? 'host' : 'max'],
    ['-smp', `cpus=${cpu},sockets=1,cores=${cpu},threads=1`],
    ['-m', `size=${ramMb}M`],
    ['-rtc', 'base=utc,driftfix=slew'],
    ['-boot', 'strict=on'],
    ['-sandbox', SANDBOX],
    // The guest waits until volumes and limits are in place.
    ['-S'],
    // A guest that shuts down keeps its process, so we see it.
    ['-no-shutdown'],
  ];
}

function controlOptions({ qmp, queryQmp, vnc, pid }: CommandLine['run']): Option[] {
  return [
    ['-display', 'none'],
    ['-device', `VGA,id=screen,addr=${SLOT.screen},vgamem_mb=16`],
    ['-vnc', `unix:${vnc},share=force-shared`],
    ['-qmp', qmpSocketArg(qmp)],
    ['-qmp', qmpSocketArg(queryQmp)],
    ['-pidfile', pid],
    ['-chardev', `ringbuf,id=serial,size=${SERIAL_BYTES}`],
    ['-device', 'isa-serial,chardev=serial'],
  ];
}

function rootDisks({ disk, rescueDisk }: CommandLine): Option[] {
  const own = disk === null ? [] : [qcow2Node('disk', disk), jsonOption('-device', OWN_DISK_DEVICE)];
  if (rescueDisk === null) return own;
  return [qcow2Node('rescue', rescueDisk), jsonOption('-device', RESCUE_DISK_DEVICE), ...own];
}

/** Uses JSON because a path may contain commas. */
function qcow2Node(node: string, filename: string): Option {
  const options = { driver: 'file', filename, discard: 'unmap', aio: 'threads', locking: 'on' };
  const file = { ...options, 'node-name': `${node}-file` };
  return jsonOption('-blockdev', { driver: 'qcow2', 'node-name': node, discard: 'unmap', file });
}

/** A full host disk halts the guest, which resumes when there is space. The guest sees all other errors. */
const ERROR_POLICY = { werror: 'enospc', rerror: 'report' } as const;
const diskDevice = (node: string) => ({ driver: 'virtio-blk-pci', id: `dev-${node}`, drive: node });
/** The machine's own disk, also for plugging it in. */
export const OWN_DISK_DEVICE = { ...diskDevice('disk'), addr: SLOT.disk, bootindex: 1, ...ERROR_POLICY };
const RESCUE_DISK_DEVICE = { ...diskDevice('rescue'), addr: SLOT.rescue, bootindex: 0, ...ERROR_POLICY };

function cdDrive(filename: string | null): Option[] {
  const drive = { driver: 'ide-cd', id: 'dev-cd', bus: 'ide.0' };
  if (filename === null) return [jsonOption('-device', drive)];
  return [cdNode('cd', filename), jsonOption('-device', { ...drive, drive: 'cd', bootindex: 2 })];
}

/** The drive for ISO images, on the second channel. */
export const ISO_DRIVE = { driver: 'ide-cd', id: 'dev-iso', bus: 'ide.1' } as const;
/** The block node of the medium that QEMU was started with. */
export const ISO_NODE = 'iso';

/** After the disk, it still boots on a machine whose disk does not. The rescue system comes first. */
export function isoBootIndex({ boots, isRescue }: { boots: boolean; isRescue: boolean }): number {
  return boots && !isRescue ? 0 : 3;
}

function isoDrive({ isoDrive, rescueDisk }: CommandLine): Option[] {
  if (isoDrive === null) return [];
  const { iso: filename, boots } = isoDrive;
  const bootindex = isoBootIndex({ boots, isRescue: rescueDisk !== null });
  const drive = { ...ISO_DRIVE, bootindex };
  if (filename === null) return [jsonOption('-device', drive)];
  return [cdNode(ISO_NODE, filename), jsonOption('-device', { ...drive, drive: ISO_NODE })];
}

/** A raw image that is never written. */
function cdNode(node: string, filename: string): Option {
  const file = { driver: 'file', filename };
  return jsonOption('-blockdev', { driver: 'raw', 'node-name': node, 'read-only': true, file });
}

function networkOptions({ tap, mac }: CommandLine): Option[] {
  const { netdev, device } = networkCard(tap, mac);
  return [jsonOption('-netdev', netdev), jsonOption('-device', device)];
}

function jsonOption(name: string, value: object): Option {
  return [name, JSON.stringify(value)];
}

/** The guest's network card, also for hot-plugging into a running guest. */
export function networkCard(tap: string, mac: string) {
  return {
    netdev: { type: 'tap', id: 'net', ifname: tap, script: 'no', downscript: 'no', vhost: false },
    device: { driver: 'virtio-net-pci', id: 'dev-net', netdev: 'net', mac, addr: SLOT.net, romfile: '' },
  } as const;
}

function auxiliaryDevices(): Option[] {
  return [
    ['-object', 'rng-random,id=random,filename=/dev/urandom'],
    // Guests seed their own generator with some bytes; more would be work of the host at their command.
    ['-device', `virtio-rng-pci,rng=random,addr=${SLOT.random},max-bytes=1024,period=1000`],
    // Reports the guest's memory usage and returns unused memory to the host.
    ['-device', `virtio-balloon-pci,id=balloon,addr=${SLOT.balloon},free-page-reporting=on`],
    // An absolute pointing device, so that the guest's pointer matches the viewer's.
    ['-device', `piix3-usb-uhci,id=usb,addr=${SLOT.usb}`],
    ['-device', 'usb-tablet,bus=usb.0'],
  ];
}
