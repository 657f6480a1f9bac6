/**
 * Checks whether guests can be installed from a file. The format is read from the first bytes, never guessed
 * by qemu-img. A qcow2 file that references other files is rejected before they are opened: it could name any
 * file of the host.
 */

import { open } from 'node:fs/promises';
import { ComputeError } from '../../../../ports/compute.ts';
import { run } from '../command.ts';

const SECTOR_BYTES = 512;
const QCOW2 = Buffer.from('QFI\xfb', 'latin1');
/** The end of the first sector of a BIOS-bootable disk, and of a disk with a GPT. */
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

export async function inspectDisk(path: string): Promise<InspectedDisk> {
  const { first, sizeBytes } = await readFirstSector(path);
  if (first.subarray(0, QCOW2.length).equals(QCOW2))
    return { format: 'qcow2', ...(await inspectQcow2(path)) };
  if (first.length < SECTOR_BYTES || !first.subarray(-BOOTABLE.length).equals(BOOTABLE)) {
    throw new ComputeError('refused', 'the file is not a disk: it is neither qcow2 nor a bootable raw disk');
  }
  if (sizeBytes % SECTOR_BYTES !== 0) {
    throw new ComputeError(
      'refused',
      'the file is truncated: a raw disk consists of whole sectors of 512 bytes',
    );
  }
  return { format: 'raw', virtualBytes: sizeBytes };
}

async function inspectQcow2(path: string): Promise<Pick<InspectedDisk, 'virtualBytes'>> {
  const args = ['info', '--output=json', '-f', 'qcow2', path];
  const info = JSON.parse(await run('qemu-img', args).catch(() => throwBrokenQcow2())) as QemuImgInfo;
  const { 'data-file': dataFile, corrupt } = info['format-specific']?.data ?? {};
  if (info['backing-filename'] !== undefined || dataFile !== undefined) {
    throw new ComputeError(
      'refused',
      'the disk references another file; convert it to a single file: qemu-img convert -O qcow2',
    );
  }
  if (info.encrypted === true) throw new ComputeError('refused', 'the disk is encrypted');
  if (corrupt === true) throwBrokenQcow2();
  return { virtualBytes: info['virtual-size'] };
}

function throwBrokenQcow2(): never {
  throw new ComputeError('refused', 'the qcow2 file is corrupt');
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
