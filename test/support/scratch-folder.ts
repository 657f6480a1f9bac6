/** A folder that does not exist yet, for what is made only when it is needed. */
import { randomBytes } from 'node:crypto';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

export function scratchFolder(): string {
  return join(tmpdir(), `skerry-files-${randomBytes(8).toString('hex')}`);
}
