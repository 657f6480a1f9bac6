/** Builds the body of an update: only the fields that were given. */
import { Failure } from './exit-codes.ts';
import { omitUndefined } from './lists.ts';
import { kebabCase } from './options.ts';

/**
 * Fails if no field was given. `fields` have the API's names; the options are the same names in kebab case.
 */
export function requireChanges<T extends object>(fields: T): { [K in keyof T]?: Exclude<T[K], undefined> } {
  const body = omitUndefined(fields);
  if (Object.keys(body).length > 0) return body;
  const names = Object.keys(fields).map((field) => `--${kebabCase(field).replaceAll('_', '-')}`);
  throw new Failure('usage', `nothing to change; specify ${names.join(' or ')}`);
}
