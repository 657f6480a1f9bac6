/** Which account a command uses: a context of the file, or what the environment says. */
import { Failure } from '../exit-codes.ts';
import { type Account, type Config, type Env, readConfig, type Warn } from './config.ts';

export type { Account } from './config.ts';

/** More are not named in an error. */
const NAMES_MAX = 10;

export interface ResolvedAccount extends Account {
  /** Null: the environment says all of it. */
  readonly name: string | null;
}

/**
 * The account to use. SKERRY_TOKEN with SKERRY_API_URL is one by itself; else it is the context that `--context` names, or
 * SKERRY_CONTEXT, or the one in use, of which either variable replaces its part.
 */
export function resolveAccount(env: Env, contextName: string | undefined, warn?: Warn): ResolvedAccount {
  // A file's last line often comes with its end.
  const token = env.SKERRY_TOKEN?.trim();
  const url = env.SKERRY_API_URL?.trim();
  if (token && url && contextName === undefined) return { name: null, url, token };
  const config = readConfig(env, warn);
  const name = contextName ?? (env.SKERRY_CONTEXT || config.current);
  if (!name) {
    const names = Object.keys(config.contexts).slice(0, NAMES_MAX).join(', ');
    const hint = names
      ? `no context is in use: run \`skerry context use\` with one of ${names}`
      : 'nobody is signed in: run `skerry login`, or set SKERRY_API_URL and SKERRY_TOKEN';
    throw new Failure('signed_out', hint);
  }
  const account = findContext(config, name);
  // A context that is asked for by name is meant as it is.
  if (contextName !== undefined) return { name, ...account };
  if (url && !token && !isSameHost(url, account.url)) {
    throw new Failure(
      'usage',
      `SKERRY_API_URL is another host than that of the context "${name}", whose token is not sent there: set SKERRY_TOKEN, too`,
    );
  }
  return { name, url: url || account.url, token: token || account.token };
}

export function findContext(config: Config, name: string): Account {
  const account = Object.hasOwn(config.contexts, name) ? config.contexts[name] : undefined;
  if (!account) throw new Failure('usage', `there is no context "${name}": see \`skerry context list\``);
  return account;
}

function isSameHost(one: string, other: string): boolean {
  return URL.canParse(one) && URL.canParse(other) && new URL(one).origin === new URL(other).origin;
}
