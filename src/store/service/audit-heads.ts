/**
 * The file of the audit log's daily heads, `audit-heads.log` in the data folder. It is only ever appended to,
 * so the operator may set its append-only attribute.
 */
import { createReadStream } from 'node:fs';
import { mkdir, open } from 'node:fs/promises';
import { dirname } from 'node:path';
import { createInterface } from 'node:readline';

const TAIL_BYTES = 4096;

/** Returns the last line; undefined: there is none. */
export async function readLastHead(path: string): Promise<string | undefined> {
  const file = await open(path, 'r').catch(ignoreMissing);
  if (!file) return undefined;
  try {
    const { size } = await file.stat();
    const tail = Buffer.alloc(Math.min(size, TAIL_BYTES));
    await file.read(tail, 0, tail.length, size - tail.length);
    return tail.toString('utf8').trimEnd().split('\n').at(-1) || undefined;
  } finally {
    await file.close();
  }
}

/** Appends a line, mode 0600, and syncs it to disk. */
export async function appendHead(path: string, line: string): Promise<void> {
  await mkdir(dirname(path), { recursive: true, mode: 0o700 });
  const file = await open(path, 'a', 0o600);
  try {
    await file.appendFile(`${line}\n`);
    await file.sync();
  } finally {
    await file.close();
  }
}

/** Reads the lines one by one; none if there is no file. */
export async function* readHeads(path: string): AsyncGenerator<string> {
  const file = await open(path, 'r').catch(ignoreMissing);
  if (!file) return;
  await file.close();
  yield* createInterface({ input: createReadStream(path, 'utf8'), crlfDelay: Infinity });
}

function ignoreMissing(error: NodeJS.ErrnoException): undefined {
  if (error.code !== 'ENOENT') throw error;
}
