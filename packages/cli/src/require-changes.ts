/** What an update sends: only what was given. */
import { Failure } from './exit-codes.ts';
import { omitUndefined } from './lists.ts';
import { kebabCase } from './options.ts';

/** Fails where nothing was given. `fields` are the contract's names; the options are called the same in kebab-case. */
export function requireChanges<T extends object>(fields: T): { [K in keyof T]?: Exclude<T[K], undefined> } {
  const body = omitUndefined(fields);
  if (Object.keys(body).length > 0) return body;
  const names = Object.keys(fields).map((field) => `--${kebabCase(field).replaceAll('_', '-')}`);
  throw new Failure('usage', `there is nothing to change: give ${names.join(' or ')}`);
}
