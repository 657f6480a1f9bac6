/** Calls an operation by its ID. The SDK has a method for it: `ssh_keys.list` is `skerry.sshKeys.list()`. */
import type { Pages, Skerry } from '@skerry/sdk';
import { Failure } from '../exit-codes.ts';
import type { Arguments, Operation } from './contract.ts';

type Method = (...given: unknown[]) => Pages<unknown> | Promise<unknown>;

/** Nothing that a path would read as another path. */
const ID = /^\w[\w-]{0,127}$/;

/** Returns the response; one page of a list, and an empty object if there is no content. */
export async function callOperation(
  skerry: Skerry,
  operation: Operation,
  given: Arguments,
  signal: AbortSignal,
): Promise<object> {
  const { ids, input } = operation;
  checkNames(operation, given);
  const path = ids.map((name) => checkId(name, given[name]));
  const rest = Object.fromEntries(Object.entries(given).filter(([name]) => !ids.includes(name)));
  const takesMore = Object.keys(input.properties).length > ids.length;
  const [resource = '', verb = ''] = operation.id.split('.').map(camelCase);
  const methods = skerry[resource as keyof Skerry] as unknown as Readonly<Record<string, Method>>;
  const method = methods[verb];
  if (!method) throw new Failure('internal', `the SDK has no method for ${operation.id}`);
  const result = method.call(methods, ...path, ...(takesMore ? [rest] : []), { signal });
  return ((await ('first' in result ? result.first() : result)) as object | undefined) ?? {};
}

/** The service reports a wrong value by its field, but drops an unknown key of a filter. */
function checkNames({ input }: Operation, given: Arguments): void {
  const unknown = Object.keys(given).filter((name) => !Object.hasOwn(input.properties, name));
  if (unknown.length > 0) throw new Failure('usage', `unknown arguments: ${unknown.join(', ')}`);
  const missing = input.required.filter((name) => given[name] === undefined);
  if (missing.length > 0) throw new Failure('usage', `missing arguments: ${missing.join(', ')}`);
}

function checkId(name: string, value: unknown): string {
  if (typeof value === 'string' && ID.test(value)) return value;
  throw new Failure('usage', `${name} is not an ID`);
}

function camelCase(words: string): string {
  return words.replace(/_(\w)/g, (_all, letter: string) => letter.toUpperCase());
}
