/** Returns the path of a folder that does not exist yet, for code that creates it on demand. */
import { randomBytes } from 'node:crypto';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

export function scratchFolder(): string {
  return join(tmpdir(), `skerry-files-${randomBytes(8).toString('hex')}`);
}
