/** cloud-init's user data, from a file or stdin. */

import { Failure } from '../../exit-codes.ts';
import { readBytes } from '../../files.ts';
import { USER_DATA_MAX_BYTES } from '../../limits.ts';
import { text } from '../../options.ts';

export const USER_DATA_FILE = text('path', 'cloud-init user data, at most 64 KiB; - is stdin.');

/** In Base64. */
export async function readUserData(path: string | undefined): Promise<string | undefined> {
  if (path === undefined) return undefined;
  const bytes = await readBytes(path, USER_DATA_MAX_BYTES);
  if (bytes !== null) return bytes.toString('base64');
  throw new Failure('usage', `--user-data-file: ${path} is more than 64 KiB; nothing was sent`);
}
