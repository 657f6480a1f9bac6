/**
 * Builds the initramfs of the tiny guest: busybox, dropbear with its libraries, a few modules, and
 * `tiny/init`.
 */
import { copyFile, mkdir, readdir, readFile, symlink, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { run } from '../../../../../src/drivers/compute/qemu/command.ts';

/** Files of Debian's packages dropbear-bin, syslinux-common and isolinux. */
export const TINY = {
  dropbear: '/usr/sbin/dropbear',
  mbr: '/usr/lib/syslinux/mbr/mbr.bin',
  isolinux: '/usr/lib/ISOLINUX/isolinux.bin',
  ldlinux: '/usr/lib/syslinux/modules/bios/ldlinux.c32',
} as const;

const MODULES = [
  // virtio needs virtio_ring but does not declare it.
  'virtio_ring',
  'virtio_pci',
  'virtio_blk',
  'virtio_net',
  'virtio-rng',
  'virtio_balloon',
  'ata_piix',
  'sr_mod',
  'isofs',
  'button',
  'evdev',
];

const FILES = {
  'etc/passwd': 'root:x:0:0:root:/root:/bin/sh\n',
  'etc/group': 'root:x:0:\n',
  'etc/shells': '/bin/sh\n',
  'etc/nsswitch.conf': 'passwd: files\nshadow: files\ngroup: files\n',
  // The console shows the hostname.
  'etc/issue': '\\n\n',
  'etc/acpi/PWRF/00000080': '#!/bin/sh\npoweroff\n',
} as const;

interface BuildPaths {
  readonly scratch: string;
  /** Folder of the unpacked kernel package. */
  readonly kernel: string;
}

/** Returns the path of the initramfs. */
export async function tinyInitramfs({ scratch, kernel }: BuildPaths): Promise<string> {
  const root = join(scratch, 'root');
  for (const folder of [
    'bin',
    'dev',
    'proc',
    'sys',
    'tmp',
    'run',
    'root/.ssh',
    'modules',
    'mnt',
    'var/log',
    'var/run',
  ]) {
    await mkdir(join(root, folder), { recursive: true });
  }
  await installPrograms(root);
  await installModules(root, kernel);
  for (const [path, content] of Object.entries(FILES)) {
    await mkdir(dirname(join(root, path)), { recursive: true });
    await writeFile(join(root, path), content, { mode: 0o755 });
  }
  await copyFile(join(import.meta.dirname, 'tiny', 'init'), join(root, 'init'));
  await copyFile(join(import.meta.dirname, 'tiny', 'inittab'), join(root, 'etc', 'inittab'));
  await run('chmod', ['-R', 'go-w', root]);
  await run('chmod', ['755', join(root, 'init')]);
  await run('chmod', ['700', join(root, 'root'), join(root, 'root/.ssh')]);
  const archive = join(scratch, 'initrd');
  const pack = 'cd "$1" && find . | cpio --quiet -o -H newc -R 0:0 >"$2"';
  await run('sh', ['-c', pack, 'sh', root, archive]);
  return archive;
}

async function installPrograms(root: string): Promise<void> {
  await copyFile('/bin/busybox', join(root, 'bin/busybox'));
  const applets = (await run('/bin/busybox', ['--list'])).trim().split('\n');
  for (const applet of applets) {
    if (applet !== 'busybox') await symlink('busybox', join(root, 'bin', applet));
  }
  await symlink('bin', join(root, 'sbin'));
  await mkdir(join(root, 'usr'));
  for (const folder of ['bin', 'sbin']) await symlink('../bin', join(root, 'usr', folder));
  const programs = [TINY.dropbear, '/usr/bin/dropbearkey'];
  for (const program of programs) await copyFile(program, join(root, 'bin', program.split('/').at(-1) ?? ''));
  const needs = await Promise.all(programs.map((program) => run('ldd', [program])));
  for (const library of new Set(needs.join('\n').match(/\/\S+\.so\S*/g))) {
    await mkdir(join(root, dirname(library)), { recursive: true });
    await copyFile(library, join(root, library));
  }
}

/** Installs each module with its dependencies, numbered in load order. */
async function installModules(root: string, kernel: string): Promise<void> {
  const versions = join(kernel, 'lib/modules');
  const [version = ''] = await readdir(versions);
  const files = await readdir(join(versions, version, 'kernel'), { recursive: true });
  const paths = new Map(
    files
      .filter((file) => file.endsWith('.ko'))
      .map((file) => [moduleName(file), join(versions, version, 'kernel', file)]),
  );
  const loaded = new Set<string>();
  const load = async (name: string): Promise<void> => {
    const path = paths.get(name);
    if (path === undefined) throw new Error(`the kernel has no module ${name}`);
    if (loaded.has(name)) return;
    loaded.add(name);
    for (const needed of await readModuleDependencies(path)) await load(needed);
    order.push(path);
  };
  const order: string[] = [];
  for (const name of MODULES) await load(moduleName(name));
  for (const [index, path] of order.entries()) {
    const number = String(index).padStart(2, '0');
    const to = join(root, 'modules', `${number}-${moduleName(path)}.ko`);
    await run('strip', ['--strip-debug', '-o', to, path]).catch(() => copyFile(path, to));
  }
}

async function readModuleDependencies(path: string): Promise<string[]> {
  const [, names = ''] = /\0depends=([^\0]*)\0/.exec((await readFile(path)).toString('latin1')) ?? [];
  return names
    .split(',')
    .filter((name) => name !== '')
    .map(moduleName);
}

function moduleName(path: string): string {
  return (path.split('/').at(-1) ?? '').replace(/\.ko$/, '').replaceAll('-', '_');
}
