/** Which SSH keys a server gets. */
import type { Skerry } from '@skerry/sdk';
import { Failure } from '../../exit-codes.ts';
import { findSshKey } from '../../find.ts';

/** More are not named in an error. */
const NAMES_MAX = 10;

/** The ids of keys that are called by name or id; undefined where none were named. */
export async function resolveKeys(
  skerry: Skerry,
  names: readonly string[] | undefined,
): Promise<string[] | undefined> {
  if (names === undefined) return undefined;
  // An unset variable of a script, say: other keys than the ones that were meant would be put onto the disk.
  if (names.length === 0) throw new Failure('usage', '--ssh-key: names no key');
  const ids: string[] = [];
  for (const name of names) ids.push((await findSshKey(skerry, name)).id);
  return [...new Set(ids)];
}

/** The keys that were named; else the account's, if it has just one. */
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
      'the account has no SSH key: add one with `skerry ssh-key create --name laptop --public-key-file ~/.ssh/id_ed25519.pub`',
    );
  }
  if (keys.length === 1) return [only.id];
  const some = keys.slice(0, NAMES_MAX).map(({ name }) => name);
  const more = keys.length > NAMES_MAX ? ' and others' : '';
  throw new Failure('usage', `the account has several SSH keys: say --ssh-key ${some.join(', ')}${more}`);
}
