/** `postmaster.pid`, which PostgreSQL writes to its cluster. */
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';

export interface PidFile {
  readonly pid: number;
  readonly port: number;
  /** The directory of its socket. */
  readonly socketFolder: string;
  /** Whether it accepts connections. */
  readonly ready: boolean;
}

export function pidFilePath(cluster: string): string {
  return join(cluster, 'postmaster.pid');
}

/** Reads a cluster's `postmaster.pid`; null when there is none or it is not fully written. */
export async function readPidFile(cluster: string): Promise<PidFile | null> {
  let text: string;
  try {
    text = await readFile(pidFilePath(cluster), 'utf8');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null;
    throw error;
  }
  const [pid, , , port, socketFolder, , , status] = text.split('\n').map((line) => line.trim());
  if (!Number(pid)) return null;
  return {
    pid: Number(pid),
    port: Number(port),
    socketFolder: socketFolder ?? '',
    ready: status === 'ready',
  };
}
