/** Reads cloud-init user data from a file or stdin. */

import { Failure } from '../../exit-codes.ts';
import { readBytes } from '../../files.ts';
import { USER_DATA_MAX_BYTES } from '../../limits.ts';
import { text } from '../../options.ts';

export const USER_DATA_FILE = text('path', 'File with cloud-init user data, at most 64 KiB; - is stdin');

/** Returns the data in Base64. */
export async function readUserData(path: string | undefined): Promise<string | undefined> {
  if (path === undefined) return undefined;
  const bytes = await readBytes(path, USER_DATA_MAX_BYTES);
  if (bytes !== null) return bytes.toString('base64');
  throw new Failure('usage', `--user-data-file: ${path} is larger than 64 KiB; nothing was sent`);
}
