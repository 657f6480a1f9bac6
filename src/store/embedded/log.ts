/** The database's own log: `log` in the home, emptied when it has grown too large. */
import { constants } from 'node:fs';
import { open } from 'node:fs/promises';

export interface Log {
  /** The descriptor to hand to postgres as its standard error. */
  readonly descriptor: number;
  /** The beginning of what was written since it was opened. */
  read(): Promise<string>;
  close(): Promise<void>;
}

const LARGEST_BYTES = 10 * 1024 * 1024;
const CHECK_MS = 60_000;
const READ_BYTES = 20_000;

export async function openLog(path: string): Promise<Log> {
  const { O_RDWR, O_APPEND, O_CREAT, O_NOFOLLOW } = constants;
  const file = await open(path, O_RDWR | O_APPEND | O_CREAT | O_NOFOLLOW, 0o600);
  const trim = async (): Promise<void> => {
    if ((await file.stat()).size > LARGEST_BYTES) await file.truncate();
  };
  await trim();
  const start = (await file.stat()).size;
  const timer = setInterval(() => void trim().catch(() => {}), CHECK_MS).unref();
  return {
    descriptor: file.fd,
    read: async () => {
      const { buffer, bytesRead } = await file.read(Buffer.alloc(READ_BYTES), 0, READ_BYTES, start);
      return buffer.toString('utf8', 0, bytesRead);
    },
    close: async () => {
      clearInterval(timer);
      await file.close();
    },
  };
}
