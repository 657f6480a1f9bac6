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
const PIECE_BYTES = 64 * 1024;

const pathOf = ({ dir }: Layout) => join(dir, 'reserve');

/** Called when there is room. */
export async function keepReserve(layout: Layout): Promise<void> {
  if ((await sizeOf(layout)) >= BYTES) return;
  // Of bytes that no file system makes smaller.
  await writeFile(pathOf(layout), randomBytes(BYTES), { mode: 0o600 });
}

/** Makes room for a record. False when nothing is left to give. */
export async function giveReserve(layout: Layout): Promise<boolean> {
  const size = await sizeOf(layout);
  if (size === 0) return false;
  await truncate(pathOf(layout), Math.max(0, size - PIECE_BYTES));
  return true;
}

async function sizeOf(layout: Layout): Promise<number> {
  const { size } = await stat(pathOf(layout)).catch(() => ({ size: 0 }));
  return size;
}
