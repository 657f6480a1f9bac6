/** Contexts: which one a command uses, or the environment instead, and changes to the stored ones. */
import { Failure } from '../exit-codes.ts';
import { type Account, type Config, changeConfig, type Env, readConfig, type Warn } from './config.ts';

export type { Account } from './config.ts';

/** Bounds the list of names in an error message. */
const NAMES_MAX = 10;

interface ResolvedAccount extends Account {
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

const CONTEXT_NAME = /^[A-Za-z0-9._-]{1,63}$/;

export function checkContextName(name: string): string {
  if (CONTEXT_NAME.test(name)) return name;
  throw new Failure(
    'usage',
    `invalid context name "${name}"; use 1 to 63 of the characters A-Z a-z 0-9 . _ -`,
  );
}

/** Adds or replaces a context and makes it the current one. */
export function saveContext(env: Env, name: string, { url, token }: Account): void {
  changeConfig(env, ({ contexts }) => ({ current: name, contexts: { ...contexts, [name]: { url, token } } }));
}

export function useContext(env: Env, name: string): void {
  changeConfig(env, (config) => {
    findContext(config, name);
    return { ...config, current: name };
  });
}

export function renameContext(env: Env, from: string, to: string): void {
  checkContextName(to);
  changeConfig(env, (config) => {
    findContext(config, from);
    if (from !== to && Object.hasOwn(config.contexts, to)) {
      throw new Failure('usage', `context "${to}" already exists`);
    }
    const entries = Object.entries(config.contexts);
    const contexts = Object.fromEntries(entries.map(([name, one]) => [name === from ? to : name, one]));
    return { current: config.current === from ? to : config.current, contexts };
  });
}

/** Returns the file without the context; removing the current context leaves none. */
export function removeContext(env: Env, name: string): Config {
  return changeConfig(env, (config) => {
    findContext(config, name);
    const contexts = Object.fromEntries(Object.entries(config.contexts).filter(([one]) => one !== name));
    return { current: config.current === name ? null : config.current, contexts };
  });
}
