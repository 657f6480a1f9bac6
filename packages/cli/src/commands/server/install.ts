/** The inputs of an installation: SSH keys and cloud-init user data. */
import type { Skerry } from '@skerry/sdk';
import { Failure } from '../../exit-codes.ts';
import { readBytes } from '../../files.ts';
import { findSshKey } from '../../find.ts';
import { USER_DATA_MAX_BYTES } from '../../limits.ts';
import { text } from '../../options.ts';

/** Bounds the list of names in an error message. */
const NAMES_MAX = 10;

/** Returns the IDs of the named keys; undefined if none were named. */
export async function resolveKeys(
  skerry: Skerry,
  names: readonly string[] | undefined,
): Promise<string[] | undefined> {
  if (names === undefined) return undefined;
  // An empty value may be an unset variable in a script; fall back to no other keys.
  if (names.length === 0) throw new Failure('usage', '--ssh-key: the value is empty; name a key');
  const ids: string[] = [];
  for (const name of names) ids.push((await findSshKey(skerry, name)).id);
  return [...new Set(ids)];
}

/** Returns the named keys, or the account's key if there is only one. */
export async function resolveKeysOrDefault(
  skerry: Skerry,
  names: readonly string[] | undefined,
): Promise<string[]> {
  const named = await resolveKeys(skerry, names);
  if (named) return named;
  const keys = await skerry.sshKeys.list().all(NAMES_MAX + 1);
  const [only] = keys;
  if (only === undefined) {
    throw new Failure(
      'usage',
      'the account has no SSH key; add one with ' +
        '`skerry ssh-key create --name laptop --public-key-file ~/.ssh/id_ed25519.pub`',
    );
  }
  if (keys.length === 1) return [only.id];
  const some = keys.slice(0, NAMES_MAX).map(({ name }) => name);
  const more = keys.length > NAMES_MAX ? ' and others' : '';
  throw new Failure(
    'usage',
    `the account has several SSH keys; pass --ssh-key with one of: ${some.join(', ')}${more}`,
  );
}

export const USER_DATA_FILE = text('path', 'File with cloud-init user data, at most 64 KiB; - is stdin');

/** Returns the data in Base64. */
export async function readUserData(path: string | undefined): Promise<string | undefined> {
  if (path === undefined) return undefined;
  const bytes = await readBytes(path, USER_DATA_MAX_BYTES);
  if (bytes !== null) return bytes.toString('base64');
  throw new Failure('usage', `--user-data-file: ${path} is larger than 64 KiB; nothing was sent`);
}
