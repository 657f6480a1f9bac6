/**
 * Reserved disk space. On a full disk, the reserve still lets the driver record that machines are off or
 * being deleted, which in turn frees space.
 */
import { randomBytes } from 'node:crypto';
import { stat, truncate, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Layout } from './layout.ts';

const BYTES = 16 * 1024 ** 2;
/** More than a record needs. Guests may use the remaining space. */
const CHUNK_BYTES = 64 * 1024;

const reservePath = ({ dir }: Layout) => join(dir, 'reserve');

/** Call only while there is enough space. */
export async function ensureReserve(layout: Layout): Promise<void> {
  if ((await reserveSize(layout)) >= BYTES) return;
  // Random bytes, so that no file system can compress them.
  await writeFile(reservePath(layout), randomBytes(BYTES), { mode: 0o600 });
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
