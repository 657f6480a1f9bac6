/** Reads the token from a hidden prompt or from stdin. */
import { Failure } from '../../exit-codes.ts';
import { readBytes } from '../../files.ts';
import { prompt, type Terminal } from '../../terminal/terminal.ts';

const BYTES_MAX = 4_096;

export async function readToken(terminal: Terminal, url: string, fromStdin: boolean): Promise<string> {
  if (fromStdin) {
    const bytes = await readBytes('-', BYTES_MAX);
    if (bytes === null) throw new Failure('usage', 'invalid API token: too long');
    return validateToken(bytes.toString('utf8'));
  }
  if (!terminal.isInteractive)
    throw new Failure('usage', 'cannot ask for the token: stdin is not a terminal; pass --token-stdin');
  terminal.warn(`Create a token in your account: ${url}/account/tokens`);
  return validateToken(await prompt(terminal, 'API token (not shown): ', true));
}

/** Never repeats the token in a message: it may be a secret, or half of one. */
function validateToken(text: string): string {
  const token = text.trim();
  if (token === '') throw new Failure('usage', 'no token entered');
  if (!/^[\x21-\x7e]+$/.test(token))
    throw new Failure('usage', 'invalid API token: it must be a single word');
  return token;
}
