/** Reads a file that a command sends. */
import { readFile, stat } from 'node:fs/promises';
import { OperatorError } from '../kernel/operator-error.ts';

/** Refuses a large file before it is in memory. */
export async function readBounded(path: string, maxBytes: number): Promise<Buffer> {
  const { size } = await stat(path);
  if (size > maxBytes) throw new OperatorError(`the file is too large: at most ${maxBytes} bytes`);
  return await readFile(path);
}
