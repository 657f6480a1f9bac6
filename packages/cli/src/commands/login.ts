import { Skerry } from '@skerry/sdk';
import { type Command, type Context, command } from '../command.ts';
import { defaultContextName, isUnencrypted, parseAddress } from '../config/address.ts';
import { type Account, readConfig } from '../config/config.ts';
import { checkContextName, findContext, removeContext, saveContext } from '../config/contexts.ts';
import { Failure } from '../exit-codes.ts';
import { readBytes } from '../files.ts';
import { nullIf } from '../find.ts';
import { flag, optionalArg, text } from '../options.ts';
import { formatUsd } from '../output/format.ts';
import { confirm, prompt, type Terminal } from '../terminal/terminal.ts';
import { CONTEXT_COLUMNS, toContextRow } from './context.ts';

const login = command({
  name: 'login',
  about: 'Sign in to a host with an API token',
  help: `Asks for the address and the token, verifies both, and stores them as a context in a file
that only you can read. The token is not an argument, because it would stay in your shell history
and be visible in the process list.`,
  operations: [],
  options: {
    url: text('url', 'Address of the host (default: ask)'),
    name: text('name', 'Name of the context (default: the host name)'),
    tokenStdin: flag('Read the token from stdin, for scripts'),
  },
  columns: CONTEXT_COLUMNS,
  example: 'skerry login --url https://skerry.example --name work --token-stdin < token.txt',
  run: async (context, { url: given, name: called, tokenStdin }) => {
    const { env, terminal, output } = context;
    if (called !== undefined) checkContextName(called);
    const url = await resolveAddress(context, given);
    if (isUnencrypted(url)) {
      terminal.warn(`skerry: ${url} is not encrypted: others can read your token and all responses`);
    }
    const token = await readToken(terminal, url, tokenStdin);
    const account = { url, token };
    const accessNote = await checkAccess(account, context.signal);
    const name = called ?? defaultContextName(url);
    if (called === undefined) await confirmReplace(context, name, account);
    saveContext(env, name, account);
    terminal.note(`Signed in to ${url}. ${accessNote}`);
    output.show(toContextRow(name, account, true), CONTEXT_COLUMNS);
    if (env.SKERRY_TOKEN) terminal.warn('skerry: SKERRY_TOKEN is set and takes precedence');
  },
});

const logout = command({
  name: 'logout',
  about: 'Delete a context and its token from this computer',
  help: 'The token stays valid on the host until you run `skerry token delete`.',
  operations: [],
  args: {
    name: optionalArg('Name of the context (default: the current one)', { completionKind: 'context' }),
  },
  example: 'skerry logout work',
  run: async ({ env, terminal, contextName }, { name: given }) => {
    const name = given ?? contextName ?? (env.SKERRY_CONTEXT || readConfig(env, terminal.warn).current);
    if (!name) throw new Failure('usage', 'not signed in; see `skerry context list`');
    const { current } = removeContext(env, name);
    terminal.note(`Signed out of ${name}. Its token is still valid; to revoke it, run: skerry token delete`);
    if (current === null) terminal.note('No current context. Run skerry context use, or skerry login.');
  },
});

async function resolveAddress({ env, terminal }: Context, given: string | undefined): Promise<string> {
  if (given !== undefined) return parseAddress(given);
  const { current, contexts } = readConfig(env, terminal.warn);
  const known = env.SKERRY_API_URL || (current === null ? undefined : contexts[current]?.url);
  if (!terminal.isInteractive) {
    if (known) return parseAddress(known);
    throw new Failure('usage', 'no host address; pass --url https://…');
  }
  const answer = await prompt(terminal, `Address of the host${known ? ` [${known}]` : ''}: `);
  if (answer || known) return parseAddress(answer || (known ?? ''));
  throw new Failure('usage', 'no address entered');
}

/** Verifies the token with read-only calls and describes its access. */
async function checkAccess({ url, token }: Account, signal: AbortSignal): Promise<string> {
  const skerry = new Skerry({ baseUrl: url, token, maxRetries: 1 });
  await skerry.regions.list({ page_size: 1 }, { signal }).first();
  const balance = await nullIf('forbidden_scope', skerry.balance.get({ signal }));
  return balance
    ? `The token has access to billing; the balance is ${formatUsd(balance.usd)} USD.`
    : 'The token has no access to billing. For the balance and top-ups, use a token with scope billing.';
}

/** Asks before a second account on the same host replaces the first under the default name. */
async function confirmReplace({ env, terminal }: Context, name: string, account: Account): Promise<void> {
  const config = readConfig(env);
  if (!Object.hasOwn(config.contexts, name)) return;
  const before = findContext(config, name);
  if (before.token === account.token && before.url === account.url) return;
  if (!terminal.isInteractive) {
    throw new Failure(
      'usage',
      `context "${name}" already exists; pass --name ${name} to replace it, or another name to keep both`,
    );
  }
  await confirm(terminal, false, `replace the token of context ${name} (use --name to keep both)`);
}

export const LOGIN_COMMANDS: readonly Command[] = [login, logout];

const BYTES_MAX = 4_096;

/** Reads the token from a hidden prompt or from stdin. */
async function readToken(terminal: Terminal, url: string, fromStdin: boolean): Promise<string> {
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
