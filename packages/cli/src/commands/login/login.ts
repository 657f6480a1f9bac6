import { isApiError, Skerry } from '@skerry/sdk';
import { type Command, type Context, command } from '../../command.ts';
import { defaultContextName, isUnencrypted, parseAddress } from '../../config/address.ts';
import { type Account, readConfig } from '../../config/config.ts';
import { findContext } from '../../config/contexts.ts';
import { checkContextName, removeContext, saveContext } from '../../config/edit-contexts.ts';
import { Failure } from '../../exit-codes.ts';
import { flag, optionalArg, text } from '../../options.ts';
import { formatUsd } from '../../output/columns.ts';
import { confirm } from '../../terminal/confirm.ts';
import { prompt } from '../../terminal/terminal.ts';
import { CONTEXT_COLUMNS, toContextRow } from '../context/columns.ts';
import { readToken } from './token.ts';

const login = command({
  name: 'login',
  about: 'Sign in to a host with an API token',
  help: `It asks for the address and the token, tries them, and keeps them as a context in a file that only you can read.
A token is never an argument: it would stay in the shell's history, and every user would see it in the list of processes.`,
  operations: [],
  options: {
    url: text('url', "The host's address; asked for when left out."),
    name: text('name', "What to call the context; the host's name when left out."),
    tokenStdin: flag('Read the token from stdin, for scripts.'),
  },
  columns: CONTEXT_COLUMNS,
  example: 'skerry login --url https://skerry.example --name work --token-stdin < token.txt',
  run: async (context, { url: given, name: called, tokenStdin }) => {
    const { env, terminal, output } = context;
    if (called !== undefined) checkContextName(called);
    const url = await resolveAddress(context, given);
    if (isUnencrypted(url)) {
      terminal.warn(`skerry: ${url} is not encrypted: whoever is on the way reads the token and all answers`);
    }
    const token = await readToken(terminal, url, tokenStdin);
    const account = { url, token };
    const accessNote = await checkAccess(account, context.signal);
    const name = called ?? defaultContextName(url);
    if (called === undefined) await confirmReplace(context, name, account);
    saveContext(env, name, account);
    terminal.note(`Signed in to ${url}. ${accessNote}`);
    output.show(toContextRow(name, account, true), CONTEXT_COLUMNS);
    if (env.SKERRY_TOKEN) terminal.warn('skerry: SKERRY_TOKEN is set, and comes first');
  },
});

const logout = command({
  name: 'logout',
  about: 'Forget a context and its token',
  help: 'At the host the token stays good: `skerry token delete` takes that away, before or after.',
  operations: [],
  args: { name: optionalArg('The context; the one in use when left out.', { completionKind: 'context' }) },
  example: 'skerry logout work',
  run: async ({ env, terminal, contextName }, { name: given }) => {
    const name = given ?? contextName ?? (env.SKERRY_CONTEXT || readConfig(env, terminal.warn).current);
    if (!name) throw new Failure('usage', 'nobody is signed in: see `skerry context list`');
    const { current } = removeContext(env, name);
    terminal.note(`Forgotten here. The token of ${name} is still good: skerry token delete revokes one.`);
    if (current === null) terminal.note('No context is in use: skerry context use, or skerry login.');
  },
});

async function resolveAddress({ env, terminal }: Context, given: string | undefined): Promise<string> {
  if (given !== undefined) return parseAddress(given);
  const { current, contexts } = readConfig(env, terminal.warn);
  const known = env.SKERRY_API_URL || (current === null ? undefined : contexts[current]?.url);
  if (!terminal.isInteractive) {
    if (known) return parseAddress(known);
    throw new Failure('usage', 'which host? Say --url https://…');
  }
  const answer = await prompt(terminal, `Address of the host${known ? ` [${known}]` : ''}: `);
  if (answer || known) return parseAddress(answer || (known ?? ''));
  throw new Failure('usage', 'no address was given');
}

/** By calls that change nothing. Says how far the token reaches. */
async function checkAccess({ url, token }: Account, signal: AbortSignal): Promise<string> {
  const skerry = new Skerry({ baseUrl: url, token, maxRetries: 1 });
  await skerry.regions.list({ page_size: 1 }, { signal }).first();
  try {
    const balance = await skerry.balance.get({ signal });
    return `The token reads the balance, ${formatUsd(balance.usd)} USD, and tops up.`;
  } catch (error) {
    if (!isApiError(error, 'forbidden_scope')) throw error;
    return 'The token does not reach billing: the balance and top-ups need one of scope billing.';
  }
}

/** Two accounts at one host would have one name: the second must not push out the first unasked. */
async function confirmReplace({ env, terminal }: Context, name: string, account: Account): Promise<void> {
  const config = readConfig(env);
  if (!Object.hasOwn(config.contexts, name)) return;
  const before = findContext(config, name);
  if (before.token === account.token && before.url === account.url) return;
  if (!terminal.isInteractive) {
    throw new Failure(
      'usage',
      `there is a context "${name}" already: --name ${name} replaces it, another name keeps both`,
    );
  }
  await confirm(terminal, false, `replace the token of the context ${name} (--name keeps both)`);
}

export const LOGIN_COMMANDS: readonly Command[] = [login, logout];
