/** The public half of an SSH key from a file or the command line. A private one is refused here: it must not travel. */
import { existsSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import type { Context } from '../../command.ts';
import { Failure } from '../../exit-codes.ts';
import { readText } from '../../files.ts';

/** What `ssh-keygen` calls them, the better one first. */
const DEFAULT_FILES = ['id_ed25519.pub', 'id_rsa.pub'] as const;
const FILE_MAX_BYTES = 64 * 1024;
const PRIVATE_KEY = /PRIVATE KEY|PuTTY-User-Key-File|SSH PRIVATE KEY FILE/;
const SSH2_PUBLIC = /^---- BEGIN SSH2 PUBLIC KEY ----/;

export interface PublicKeySource {
  readonly publicKey: string | undefined;
  readonly publicKeyFile: string | undefined;
}

/** One line, `type base64 comment`. */
export async function readPublicKey(
  { publicKey, publicKeyFile }: PublicKeySource,
  env: Context['env'],
): Promise<string> {
  if (publicKey !== undefined && publicKeyFile !== undefined) {
    throw new Failure('usage', '--public-key and --public-key-file say the same thing: give one of them');
  }
  if (publicKey !== undefined) return parseKeyLine(publicKey, '--public-key');
  const path = publicKeyFile ?? findDefaultFile(env);
  return parseKeyLine(await readText(path, FILE_MAX_BYTES), path);
}

/** `ssh-ed25519 AAAA… me@laptop` is me@laptop's. */
export function commentOf(line: string): string | undefined {
  return line.split(/\s+/).slice(2).join(' ') || undefined;
}

function findDefaultFile(env: Context['env']): string {
  const folder = join(env.HOME || homedir(), '.ssh');
  const found = DEFAULT_FILES.map((name) => join(folder, name)).find((path) => existsSync(path));
  if (found) return found;
  throw new Failure(
    'usage',
    `there is neither ${DEFAULT_FILES.join(' nor ')} in ${folder}: give --public-key-file, or make a key by \`ssh-keygen -t ed25519\``,
  );
}

/** `name` is where it comes from. Nothing of the text is ever repeated. */
function parseKeyLine(text: string, name: string): string {
  if (PRIVATE_KEY.test(text)) {
    throw new Failure(
      'usage',
      `${name} is a private key, which must never leave your machine; nothing was sent. ` +
        'Give the public one, the file that ends in .pub',
    );
  }
  if (SSH2_PUBLIC.test(text.trim())) {
    throw new Failure(
      'usage',
      `${name} is not in OpenSSH's format: \`ssh-keygen -i -f <file>\` prints it so`,
    );
  }
  const lines = text
    .split(/\r?\n/)
    .map((line) => line.trim())
    .filter((line) => line !== '' && !line.startsWith('#'));
  const [line] = lines;
  if (line === undefined) throw new Failure('usage', `${name} holds no key`);
  if (lines.length > 1)
    throw new Failure('usage', `${name} has more than one line: a key is one, add them one by one`);
  return line;
}
