/** The database's own log: `log` in the home, truncated when it is too large. */
import { constants } from 'node:fs';
import { open } from 'node:fs/promises';

export interface ServerLog {
  /** The descriptor for the standard error of postgres. */
  readonly descriptor: number;
  /** Reads the beginning of the output since it was opened. */
  read(): Promise<string>;
  close(): Promise<void>;
}

const MAX_LOG_BYTES = 10 * 1024 * 1024;
const CHECK_INTERVAL_MS = 60_000;
const READ_MAX_BYTES = 20_000;

export async function openLog(path: string): Promise<ServerLog> {
  const { O_RDWR, O_APPEND, O_CREAT, O_NOFOLLOW } = constants;
  const file = await open(path, O_RDWR | O_APPEND | O_CREAT | O_NOFOLLOW, 0o600);
  const trim = async (): Promise<void> => {
    if ((await file.stat()).size > MAX_LOG_BYTES) await file.truncate();
  };
  await trim();
  const start = (await file.stat()).size;
  const timer = setInterval(() => void trim().catch(() => {}), CHECK_INTERVAL_MS).unref();
  return {
    descriptor: file.fd,
    read: async () => {
      const { buffer, bytesRead } = await file.read(Buffer.alloc(READ_MAX_BYTES), 0, READ_MAX_BYTES, start);
      return buffer.toString('utf8', 0, bytesRead);
    },
    close: async () => {
      clearInterval(timer);
      await file.close();
    },
  };
}
