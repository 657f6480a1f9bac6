/**
 * A file that takes room only to give it back: on a disk that guests have filled, it is still written of machines that they
 * are off, or to be removed, which is how there comes to be room again.
 */
import { randomBytes } from 'node:crypto';
import { stat, truncate, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Layout } from './layout.ts';

const BYTES = 16 * 1024 ** 2;
/** More than a record takes. Guests take what else is given back. */
const CHUNK_BYTES = 64 * 1024;

const reservePath = ({ dir }: Layout) => join(dir, 'reserve');

/** Called when there is room. */
export async function ensureReserve(layout: Layout): Promise<void> {
  if ((await reserveSize(layout)) >= BYTES) return;
  // Of bytes that no file system makes smaller.
  await writeFile(reservePath(layout), randomBytes(BYTES), { mode: 0o600 });
}

/** Makes room for a record. False when nothing is left to give. */
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
