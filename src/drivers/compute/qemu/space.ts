/**
 * Disk space of this host. Files grow as guests write, so a promise must fit when it is made.
 *
 * The reserve is a file of its own: on a full disk, shrinking it still lets the driver record that machines
 * are off or being deleted, which in turn frees space.
 */
import { randomBytes } from 'node:crypto';
import { mkdir, stat, truncate, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { freeBytes, undefinedIfMissing } from '../../../kernel/files.ts';
import { ComputeError } from '../../../ports/compute.ts';
import type { Layout } from './layout.ts';

export const GIB = 1024 ** 3;
/** Stays free, so that running guests can write while machines, volumes, and snapshots are created. */
const FREE_MIN_BYTES = 2 * GIB;
const RESERVE_BYTES = 16 * 1024 ** 2;
/** More than a record needs. Guests may use the remaining space. */
const CHUNK_BYTES = 64 * 1024;

/** Creates the folder and throws a `host` error if this many bytes do not fit. */
export async function requireSpace(folder: string, bytes: number): Promise<void> {
  await mkdir(folder, { recursive: true, mode: 0o700 });
  if ((await freeBytes(folder)) - FREE_MIN_BYTES < bytes) {
    throw new ComputeError('host', 'the host does not have enough disk space');
  }
}

/** Throws a `host` error if too little is left for another disk, which grows later. */
export async function requireDiskSpace(layout: Layout): Promise<void> {
  if ((await freeBytes(layout.dir)) < FREE_MIN_BYTES)
    throw new ComputeError('host', 'the host has no disk space left for another disk');
  await ensureReserve(layout);
}

/** Returns the size on disk, less than the length of a file with holes. Undefined if it does not exist. */
export async function allocatedBytes(path: string): Promise<number | undefined> {
  const found = await stat(path).catch(undefinedIfMissing);
  return found && found.blocks * 512;
}

const reservePath = ({ dir }: Layout) => join(dir, 'reserve');

/** Call only while there is enough space. */
export async function ensureReserve(layout: Layout): Promise<void> {
  if ((await reserveSize(layout)) >= RESERVE_BYTES) return;
  // Random bytes, so that no file system can compress them.
  await writeFile(reservePath(layout), randomBytes(RESERVE_BYTES), { mode: 0o600 });
}

/** Frees space for a record. Returns false if the reserve is used up. */
export async function releaseReserve(layout: Layout): Promise<boolean> {
  const size = await reserveSize(layout);
  if (size === 0) return false;
  await truncate(reservePath(layout), Math.max(0, size - CHUNK_BYTES));
  return true;
}

async function reserveSize(layout: Layout): Promise<number> {
  const { size } = await stat(reservePath(layout)).catch(() => ({ size: 0 }));
  return size;
}
