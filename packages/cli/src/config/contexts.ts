/** Determines the account of a command: a stored context, or the environment. */
import { Failure } from '../exit-codes.ts';
import { type Account, type Config, type Env, readConfig, type Warn } from './config.ts';

export type { Account } from './config.ts';

/** Bounds the list of names in an error message. */
const NAMES_MAX = 10;

export interface ResolvedAccount extends Account {
  /** Null: the environment defines the whole account. */
  readonly name: string | null;
}

/**
 * Returns the account to use. SKERRY_TOKEN and SKERRY_API_URL together are an account. Otherwise it is the
 * context named by `--context` or SKERRY_CONTEXT, or the current one; each variable overrides its part.
 */
export function resolveAccount(env: Env, contextName: string | undefined, warn?: Warn): ResolvedAccount {
  // A value read from a file often ends with a line break.
  const token = env.SKERRY_TOKEN?.trim();
  const url = env.SKERRY_API_URL?.trim();
  if (token && url && contextName === undefined) return { name: null, url, token };
  const config = readConfig(env, warn);
  const name = contextName ?? (env.SKERRY_CONTEXT || config.current);
  if (!name) {
    const names = Object.keys(config.contexts).slice(0, NAMES_MAX).join(', ');
    const hint = names
      ? `no current context; run \`skerry context use NAME\` with one of: ${names}`
      : 'not signed in; run `skerry login`, or set SKERRY_API_URL and SKERRY_TOKEN';
    throw new Failure('signed_out', hint);
  }
  const account = findContext(config, name);
  // The environment does not override a context that was named explicitly.
  if (contextName !== undefined) return { name, ...account };
  if (url && !token && !isSameHost(url, account.url)) {
    throw new Failure(
      'usage',
      `SKERRY_API_URL is a different host than context "${name}", whose token is not sent elsewhere; ` +
        'set SKERRY_TOKEN as well',
    );
  }
  return { name, url: url || account.url, token: token || account.token };
}

export function findContext(config: Config, name: string): Account {
  const account = Object.hasOwn(config.contexts, name) ? config.contexts[name] : undefined;
  if (!account) throw new Failure('usage', `context "${name}" not found; see \`skerry context list\``);
  return account;
}

function isSameHost(one: string, other: string): boolean {
  return URL.canParse(one) && URL.canParse(other) && new URL(one).origin === new URL(other).origin;
}
