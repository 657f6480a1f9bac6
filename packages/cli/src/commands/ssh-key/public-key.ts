/** Reads the public half of an SSH key. Rejects private keys here, so that they are never sent. */
import { existsSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import type { Context } from '../../command.ts';
import { Failure } from '../../exit-codes.ts';
import { readText } from '../../files.ts';

/** Default file names of `ssh-keygen`, the stronger key first. */
const DEFAULT_FILES = ['id_ed25519.pub', 'id_rsa.pub'] as const;
const FILE_MAX_BYTES = 64 * 1024;
const PRIVATE_KEY = /PRIVATE KEY|PuTTY-User-Key-File|SSH PRIVATE KEY FILE/;
const SSH2_PUBLIC = /^---- BEGIN SSH2 PUBLIC KEY ----/;

export interface PublicKeySource {
  readonly publicKey: string | undefined;
  readonly publicKeyFile: string | undefined;
}

/** Returns one line, `type base64 comment`. */
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

/** Returns the comment: `me@laptop` in `ssh-ed25519 AAAA… me@laptop`. */
export function commentOf(line: string): string | undefined {
  return line.split(/\s+/).slice(2).join(' ') || undefined;
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
