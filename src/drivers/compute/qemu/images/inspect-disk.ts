/**
 * Whether a file is a disk that guests may be installed from. The format is read from its first bytes, never guessed by
 * qemu-img; a qcow2 file that names other files is refused before anything opens those: it could name any of the host's.
 */
import { open } from 'node:fs/promises';
import { ComputeError } from '../../../../ports/compute.ts';
import type { QemuHost } from '../host.ts';

const SECTOR_BYTES = 512;
const QCOW2 = Buffer.from('QFI\xfb', 'latin1');
/** What ends the first sector of a disk that a BIOS boots, and of one with a GPT. */
const BOOTABLE = Buffer.from([0x55, 0xaa]);

export interface InspectedDisk {
  readonly format: 'qcow2' | 'raw';
  readonly virtualBytes: number;
}

interface QemuImgInfo {
  readonly 'virtual-size': number;
  readonly 'backing-filename'?: string;
  readonly encrypted?: boolean;
  readonly 'format-specific'?: {
    readonly data?: { readonly 'data-file'?: string; readonly corrupt?: boolean };
  };
}

export async function inspectDisk(host: QemuHost, path: string): Promise<InspectedDisk> {
  const { first, sizeBytes } = await readFirstSector(path);
  if (first.subarray(0, QCOW2.length).equals(QCOW2))
    return { format: 'qcow2', ...(await inspectQcow2(host, path)) };
  if (first.length < SECTOR_BYTES || !first.subarray(-BOOTABLE.length).equals(BOOTABLE)) {
    throw new ComputeError(
      'refused',
      'the file is not a disk: it is neither qcow2 nor a raw disk that boots',
    );
  }
  if (sizeBytes % SECTOR_BYTES !== 0) {
    throw new ComputeError(
      'refused',
      'the file is cut off: a raw disk is made of whole sectors of 512 bytes',
    );
  }
  return { format: 'raw', virtualBytes: sizeBytes };
}

async function inspectQcow2(host: QemuHost, path: string): Promise<Pick<InspectedDisk, 'virtualBytes'>> {
  const args = ['info', '--output=json', '-f', 'qcow2', path];
  const info = JSON.parse(await host.run('qemu-img', args).catch(() => throwBrokenQcow2())) as QemuImgInfo;
  const { 'data-file': dataFile, corrupt } = info['format-specific']?.data ?? {};
  if (info['backing-filename'] !== undefined || dataFile !== undefined) {
    throw new ComputeError(
      'refused',
      'the disk needs another file; make one file of it: qemu-img convert -O qcow2',
    );
  }
  if (info.encrypted === true) throw new ComputeError('refused', 'the disk is encrypted');
  if (corrupt === true) throwBrokenQcow2();
  return { virtualBytes: info['virtual-size'] };
}

function throwBrokenQcow2(): never {
  throw new ComputeError('refused', 'the qcow2 file is broken');
}

async function readFirstSector(
  path: string,
): Promise<{ readonly first: Buffer; readonly sizeBytes: number }> {
  const file = await open(path, 'r');
  try {
    const { buffer, bytesRead } = await file.read(Buffer.alloc(SECTOR_BYTES), 0, SECTOR_BYTES, 0);
    return { first: buffer.subarray(0, bytesRead), sizeBytes: (await file.stat()).size };
  } finally {
    await file.close();
  }
}
