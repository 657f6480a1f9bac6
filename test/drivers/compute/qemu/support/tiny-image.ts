/**
 * A guest that boots in seconds even without KVM: Debian's cloud kernel, busybox, and dropbear in an
 * initramfs, on a disk that SeaBIOS boots. It applies a NoCloud seed like cloud-init, keeps `/data` on its
 * second partition, and shuts down on the power button. Tests use it as an operating system, as a rescue
 * system, and on a CD as a customer's ISO.
 */
import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, readdir, readFile, rename, rm, truncate, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { run } from '../../../../../src/drivers/compute/qemu/command.ts';
import { findProgram } from '../../../../support/installed-programs.ts';
import { TINY, tinyInitramfs } from './tiny-initramfs.ts';

/** Unpacked by `.ci/run`: the package of Debian's cloud kernel, with `boot/vmlinuz-…` and its modules. */
const KERNEL = process.env.SKERRY_TEST_KERNEL ?? '/var/cache/skerry-test/kernel';

const MIB = 1024 ** 2;
/** The first partition has the boot loader, kernel, and initramfs; the second has `/data`. */
const BOOT = { startMib: 1, sizeMib: 31 };
const DATA = { startMib: 32, sizeMib: 32 };

const KERNEL_ARGS =
  'quiet loglevel=1 nokaslr mitigations=off tsc=reliable no_timer_check cryptomgr.notests ' +
  'audit=0 apparmor=0 random.trust_cpu=on ' +
  'rcupdate.rcu_expedited=1 8250.nr_uarts=1 vt.global_cursor_default=0 panic=-1';

const REQUIRED_PROGRAMS = {
  'qemu-system-x86_64': ['qemu-system-x86_64'],
  'qemu-img': ['qemu-img'],
  syslinux: ['syslinux'],
  mtools: ['mcopy'],
  dosfstools: ['mkfs.fat', '/usr/sbin/mkfs.fat'],
  e2fsprogs: ['mke2fs', '/usr/sbin/mke2fs'],
  cpio: ['cpio'],
  xorriso: ['xorriso'],
} as const;

/** Returns the reason why the tiny image cannot be built, or null. */
export function tinyMissing(): string | null {
  const programs = Object.entries(REQUIRED_PROGRAMS).filter(
    ([, names]) => findProgram(names) === null && !names.some((name) => existsSync(name)),
  );
  const files = ['/bin/busybox', TINY.dropbear, TINY.mbr, TINY.isolinux, KERNEL].filter(
    (path) => !existsSync(path),
  );
  const missing = [...programs.map(([name]) => name), ...files];
  return missing.length === 0 ? null : `not installed: ${missing.join(', ')}`;
}

export interface TinyImage {
  /** A 64 MiB disk in qcow2 format. */
  readonly disk: string;
  /**
   * The same guest as a bootable ISO 9660 file. Its `/data` is in memory, and it does not touch the disks.
   */
  readonly iso: string;
}

/** Builds the image once per recipe and caches it in the temporary folder. */
export async function tinyImage(): Promise<TinyImage> {
  const vmlinuz = await kernelFile();
  const recipe = createHash('sha256').update(KERNEL_ARGS).update(vmlinuz);
  for (const file of ['tiny-image.ts', 'tiny-initramfs.ts', 'tiny/init', 'tiny/inittab']) {
    recipe.update(await readFile(join(import.meta.dirname, file)));
  }
  const folder = join(tmpdir(), `skerry-tiny-${recipe.digest('hex').slice(0, 16)}`);
  if (!existsSync(folder)) await build(folder, vmlinuz);
  return { disk: join(folder, 'tiny.qcow2'), iso: join(folder, 'tiny.iso') };
}

/** Several test files may build it at once; the first to finish wins. */
async function build(folder: string, vmlinuz: string): Promise<void> {
  const scratch = await mkdtemp(join(tmpdir(), 'skerry-tiny-build-'));
  try {
    const initrd = await tinyInitramfs({ scratch, kernel: KERNEL });
    await buildDisk(scratch, { vmlinuz, initrd });
    await buildIso(scratch, { vmlinuz, initrd });
    for (const file of await readdir(scratch)) {
      if (!['tiny.qcow2', 'tiny.iso'].includes(file)) await rm(join(scratch, file), { recursive: true });
    }
    await rename(scratch, folder).catch((error) => {
      if (!existsSync(folder)) throw error;
    });
  } finally {
    await rm(scratch, { recursive: true, force: true });
  }
}

interface Payload {
  readonly vmlinuz: string;
  readonly initrd: string;
}

async function buildDisk(scratch: string, { vmlinuz, initrd }: Payload): Promise<void> {
  const [disk, boot, data] = ['disk', 'boot', 'data'].map((name) =>
    join(scratch, `${name}.raw`),
  ) as ThreePaths;
  await emptyFile(boot, BOOT.sizeMib);
  await run(tool('mkfs.fat'), ['-F', '16', '-s', '8', '-h', String((BOOT.startMib * MIB) / 512), boot]);
  const config = join(scratch, 'syslinux.cfg');
  await writeFile(config, loaderConfig(''));
  const files = { vmlinuz, initrd, 'syslinux.cfg': config };
  for (const [name, from] of Object.entries(files)) await run('mcopy', ['-i', boot, from, `::${name}`]);
  await run('syslinux', ['--install', boot]);
  await emptyFile(data, DATA.sizeMib);
  await run(tool('mke2fs'), ['-q', '-t', 'ext4', '-L', 'tinydata', '-E', 'lazy_itable_init=0', data]);
  await writeFile(disk, await bootSector());
  await run('dd', ['status=none', `if=${boot}`, `of=${disk}`, 'bs=1M', `seek=${BOOT.startMib}`]);
  await run('dd', ['status=none', `if=${data}`, `of=${disk}`, 'bs=1M', `seek=${DATA.startMib}`]);
  await run('qemu-img', ['convert', '-O', 'qcow2', disk, join(scratch, 'tiny.qcow2')]);
}

type ThreePaths = [string, string, string];

async function emptyFile(path: string, sizeMib: number): Promise<void> {
  await writeFile(path, '');
  await truncate(path, sizeMib * MIB);
}

async function buildIso(scratch: string, { vmlinuz, initrd }: Payload): Promise<void> {
  const tree = join(scratch, 'iso');
  await mkdir(tree);
  await writeFile(join(tree, 'isolinux.cfg'), loaderConfig('tiny=cd'));
  const files = { vmlinuz, initrd, 'isolinux.bin': TINY.isolinux, 'ldlinux.c32': TINY.ldlinux };
  for (const [name, from] of Object.entries(files)) await run('cp', [from, join(tree, name)]);
  const boot = [
    '-b',
    'isolinux.bin',
    '-c',
    'boot.cat',
    '-no-emul-boot',
    '-boot-load-size',
    '4',
    '-boot-info-table',
  ];
  const iso = ['-quiet', '-V', 'TINY', '-o', join(scratch, 'tiny.iso'), '-r', '-J', ...boot, tree];
  await run('xorriso', ['-as', 'mkisofs', ...iso]);
}

function loaderConfig(words: string): string {
  const lines = ['DEFAULT tiny', 'PROMPT 0', 'LABEL tiny', 'KERNEL vmlinuz', 'INITRD initrd'];
  return `${lines.join('\n')}\nAPPEND ${KERNEL_ARGS} ${words}\n`;
}

/** Boot code, followed by a table of the two partitions. The first is active. */
async function bootSector(): Promise<Buffer> {
  const sector = Buffer.alloc(512);
  (await readFile(TINY.mbr)).copy(sector, 0, 0, 440);
  const partitions = [
    { active: 0x80, type: 0x0e, ...BOOT },
    { active: 0, type: 0x83, ...DATA },
  ];
  for (const [index, { active, type, startMib, sizeMib }] of partitions.entries()) {
    const at = 446 + 16 * index;
    // CHS values are out of range, so that LBA values are used.
    sector.set([active, 0xfe, 0xff, 0xff, type, 0xfe, 0xff, 0xff], at);
    sector.writeUInt32LE((startMib * MIB) / 512, at + 8);
    sector.writeUInt32LE((sizeMib * MIB) / 512, at + 12);
  }
  sector.writeUInt16LE(0xaa55, 510);
  return sector;
}

async function kernelFile(): Promise<string> {
  const name = (await readdir(join(KERNEL, 'boot'))).find((file) => file.startsWith('vmlinuz-'));
  if (name === undefined) throw new Error(`no kernel in ${KERNEL}`);
  return join(KERNEL, 'boot', name);
}

/** Some systems do not have /usr/sbin in PATH. */
function tool(name: string): string {
  return findProgram([name]) ?? join('/usr/sbin', name);
}
