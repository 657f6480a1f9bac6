/** Block nodes of a running QEMU: open, list, and close disks. */
import { setTimeout as pause } from 'node:timers/promises';
import type { Qmp } from '../qmp.ts';
import { QmpRefusedError } from '../qmp.ts';

export interface BlockNode {
  readonly 'node-name': string;
  /** Path of the underlying file. */
  readonly file: string;
  readonly drv: string;
  readonly image: { readonly 'virtual-size': number };
}

export async function listBlockNodes(qmp: Qmp): Promise<BlockNode[]> {
  return await qmp.execute<BlockNode[]>('query-named-block-nodes', { flat: true });
}

/**
 * Opens a qcow2 file as a node. Uses O_DIRECT, so that a guest's flush reaches the disk and memory is not
 * used twice. Falls back to cached access on file systems without it, such as tmpfs.
 */
export async function openNode(
  qmp: Qmp,
  node: { readonly name: string; readonly path: string },
): Promise<void> {
  const add = async (direct: boolean) => {
    const cache = { direct };
    const file = { driver: 'file', filename: node.path, aio: 'threads', discard: 'unmap', cache };
    const layer = { driver: 'qcow2', 'node-name': node.name, discard: 'unmap', cache };
    await qmp.execute('blockdev-add', { ...layer, file });
  };
  try {
    await add(true);
  } catch (error) {
    if (!(error instanceof QmpRefusedError) || !error.message.includes('O_DIRECT')) throw error;
    await add(false);
  }
}

const CLOSE_TRIES = 20;
const CLOSE_RETRY_MS = 100;

/** Closes the node if it is open. Retries, since its last user may not have released it yet. */
export async function closeNode(qmp: Qmp, name: string): Promise<void> {
  for (let tries = 1; ; tries++) {
    const open = (await listBlockNodes(qmp)).some((node) => node['node-name'] === name);
    if (!open) return;
    try {
      return void (await qmp.execute('blockdev-del', { 'node-name': name }));
    } catch (error) {
      if (!(error instanceof QmpRefusedError) || tries === CLOSE_TRIES) throw error;
    }
    await pause(CLOSE_RETRY_MS);
  }
}
