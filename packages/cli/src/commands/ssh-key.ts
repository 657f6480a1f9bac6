import { existsSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import type { ListedSshKey, Skerry, SshKey } from '@skerry/sdk';
import { type Command, type Context, command } from '../command.ts';
import { Failure } from '../exit-codes.ts';
import { readText } from '../files.ts';
import { FIND_SSH_KEY, findSshKey } from '../find.ts';
import { listCommand } from '../lists.ts';
import { text } from '../options.ts';
import { type Column, fields, hidden, times } from '../output/format.ts';
import { deleteCommand, describeCommand } from '../resources.ts';

const LISTED_SSH_KEY_COLUMNS: readonly Column<ListedSshKey>[] = [
  ...fields<ListedSshKey>('id', 'name', 'type'),
  ...hidden(fields<ListedSshKey>('fingerprint')),
  ...times<ListedSshKey>('created_at'),
];

const SSH_KEY_COLUMNS: readonly Column<SshKey>[] = [
  ...LISTED_SSH_KEY_COLUMNS,
  ...hidden(fields<SshKey>('public_key')),
];

const list = listCommand({
  name: 'ssh-key list',
  about: 'List SSH keys',
  operations: ['ssh_keys.list'],
  options: {
    name: text('name', 'Filter by name'),
    type: text('type', 'Filter by type, such as ssh-ed25519'),
  },
  columns: LISTED_SSH_KEY_COLUMNS,
  example: 'skerry ssh-key list -o columns=name,fingerprint',
  list: (skerry, query) => skerry.sshKeys.list(query),
});

/** Lists omit the public key. */
async function findFullKey(skerry: Skerry, text: string): Promise<SshKey> {
  const found = await findSshKey(skerry, text);
  return 'public_key' in found ? (found as SshKey) : await skerry.sshKeys.get(found.id);
}

const SSH_KEY = { word: 'ssh-key', about: 'Name or ID', find: findSshKey, calls: FIND_SSH_KEY };

const describe = describeCommand(
  { ...SSH_KEY, find: findFullKey },
  {
    about: 'Show an SSH key, including the public key',
    columns: SSH_KEY_COLUMNS,
    example: 'skerry ssh-key describe laptop',
  },
);

const create = command({
  name: 'ssh-key create',
  aliases: ['add'],
  about: 'Add an SSH key',
  help:
    'The default is ~/.ssh/id_ed25519.pub, or else ~/.ssh/id_rsa.pub. Private keys are rejected\n' +
    'and never sent.',
  operations: ['ssh_keys.create'],
  options: {
    name: text('name', "Name of the key (default: the key's comment)"),
    publicKey: text('key', "Public key as in a .pub file: 'ssh-ed25519 AAAA… me@laptop'"),
    publicKeyFile: text('file', 'File with the public key; - is stdin'),
  },
  columns: SSH_KEY_COLUMNS,
  example: 'skerry ssh-key create --name desk --public-key-file ~/.ssh/id_ed25519.pub',
  run: async ({ skerry, output, env }, { name, ...source }) => {
    const publicKey = await readPublicKey(source, env);
    // The comment: `me@laptop` in `ssh-ed25519 AAAA… me@laptop`.
    const called = name ?? publicKey.split(/\s+/).slice(2).join(' ');
    if (!called) throw new Failure('usage', 'the key has no comment to use as its name; pass --name');
    output.show(await skerry.sshKeys.create({ name: called, public_key: publicKey }), SSH_KEY_COLUMNS);
  },
});

const remove = deleteCommand(SSH_KEY, {
  noun: 'SSH key',
  operation: 'ssh_keys.delete',
  delete: (skerry, id) => skerry.sshKeys.delete(id),
  consequence: () => '; servers that have the key keep it',
  about: 'Delete an SSH key; servers that have the key keep it',
  example: 'skerry ssh-key delete old-laptop --yes',
});

export const SSH_KEY_COMMANDS: readonly Command[] = [list, describe, create, remove];

/** Default file names of `ssh-keygen`, the stronger key first. */
const DEFAULT_FILES = ['id_ed25519.pub', 'id_rsa.pub'] as const;
const FILE_MAX_BYTES = 64 * 1024;
const PRIVATE_KEY = /PRIVATE KEY|PuTTY-User-Key-File|SSH PRIVATE KEY FILE/;
const SSH2_PUBLIC = /^---- BEGIN SSH2 PUBLIC KEY ----/;

interface PublicKeySource {
  readonly publicKey: string | undefined;
  readonly publicKeyFile: string | undefined;
}

/** Returns one line, `type base64 comment`. Rejects private keys here, so that they are never sent. */
export async function readPublicKey(
  { publicKey, publicKeyFile }: PublicKeySource,
  env: Context['env'],
): Promise<string> {
  if (publicKey !== undefined && publicKeyFile !== undefined) {
    throw new Failure('usage', '--public-key and --public-key-file cannot be combined; use one of them');
  }
  if (publicKey !== undefined) return parseKeyLine(publicKey, '--public-key');
  const path = publicKeyFile ?? findDefaultFile(env);
  return parseKeyLine(await readText(path, FILE_MAX_BYTES), path);
}

function findDefaultFile(env: Context['env']): string {
  const folder = join(env.HOME || homedir(), '.ssh');
  const found = DEFAULT_FILES.map((name) => join(folder, name)).find((path) => existsSync(path));
  if (found) return found;
  throw new Failure(
    'usage',
    `neither ${DEFAULT_FILES.join(' nor ')} found in ${folder}; pass --public-key-file, ` +
      'or create a key with `ssh-keygen -t ed25519`',
  );
}

/** `name` is the source of the text. The text itself is never repeated in a message. */
function parseKeyLine(text: string, name: string): string {
  if (PRIVATE_KEY.test(text)) {
    throw new Failure(
      'usage',
      `${name} is a private key, which must never leave your computer; nothing was sent. ` +
        'Use the public key: the file that ends in .pub',
    );
  }
  if (SSH2_PUBLIC.test(text.trim())) {
    throw new Failure(
      'usage',
      `${name} is not in OpenSSH format; convert it with \`ssh-keygen -i -f <file>\``,
    );
  }
  const lines = text
    .split(/\r?\n/)
    .map((line) => line.trim())
    .filter((line) => line !== '' && !line.startsWith('#'));
  const [line] = lines;
  if (line === undefined) throw new Failure('usage', `${name} contains no key`);
  if (lines.length > 1) throw new Failure('usage', `${name} has more than one line; add each key separately`);
  return line;
}
