/** The token: typed where nobody sees it, or from stdin. */
import { Failure } from '../../exit-codes.ts';
import { readBytes } from '../../files.ts';
import { prompt, type Terminal } from '../../terminal/terminal.ts';

const BYTES_MAX = 4_096;

export async function readToken(terminal: Terminal, url: string, fromStdin: boolean): Promise<string> {
  if (fromStdin) {
    const bytes = await readBytes('-', BYTES_MAX);
    if (bytes === null) throw new Failure('usage', 'that is not an API token: it is too long');
    return validateToken(bytes.toString('utf8'));
  }
  if (!terminal.isInteractive)
    throw new Failure('usage', 'there is nobody to ask for the token: say --token-stdin');
  terminal.warn(`A token is made in the account's pages: ${url}/account/tokens`);
  return validateToken(await prompt(terminal, 'API token (not shown): ', true));
}

/** Never repeated in a message: it is a secret, or half of one. */
function validateToken(text: string): string {
  const token = text.trim();
  if (token === '') throw new Failure('usage', 'no token was given');
  if (!/^[\x21-\x7e]+$/.test(token)) throw new Failure('usage', 'that is not an API token: it is one word');
  return token;
}
