/** Changes to the context file. */
import { Failure } from '../exit-codes.ts';
import { type Account, type Config, changeConfig, type Env } from './config.ts';
import { findContext } from './contexts.ts';

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
