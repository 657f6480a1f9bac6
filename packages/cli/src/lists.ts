/**
 * Options and output that all list commands share, and bodies that contain only the fields that were given.
 */
import type { Pages, Skerry } from '@skerry/sdk';
import { type Arguments, type Command, command, type Options, type ParsedValues } from './command.ts';
import { Failure } from './exit-codes.ts';
import { integer, kebabCase, text } from './options.ts';
import type { Column } from './output/format.ts';

const DEFAULT_LIMIT = 1_000;
const LIMIT_MAX = 100_000;

const LIST_OPTIONS = {
  sort: text('field', 'Sort by created_at or, if supported, name; -created_at puts the newest first'),
  limit: integer('number', `Maximum number of results (default: ${DEFAULT_LIMIT})`, {
    min: 1,
    max: LIMIT_MAX,
  }),
};

interface ListRow<T, A extends Arguments, O extends Options> extends Omit<Command<A, O>, 'run' | 'aliases'> {
  readonly columns: readonly Column<T>[];
  /** `query` contains the filter and the order. */
  readonly list: (skerry: Skerry, query: object, given: ParsedValues<A>) => Pages<T>;
  /** The API's filter, unless it consists of the options as they were given. `label` is not part of it. */
  readonly filter?: (given: ParsedValues<O>, skerry: Skerry) => object | Promise<object>;
  /** Sorts the fetched items on this side, unless `--sort` is given: instead of by the service's order. */
  readonly order?: (one: T, other: T) => number;
}

/** A command that fetches and prints a list, and warns if there are more results. */
// biome-ignore lint/complexity/noBannedTypes: no arguments and no options unless the row defines them.
export function listCommand<T, A extends Arguments = {}, O extends Options = {}>({
  list,
  filter,
  order,
  ...row
}: ListRow<T, A, O>): Command {
  return command({
    ...row,
    ...(row.name.endsWith(' list') ? { aliases: ['ls'] } : {}),
    options: { ...LIST_OPTIONS, ...row.options },
    run: async ({ skerry, output, terminal }, { sort, limit = DEFAULT_LIMIT, ...others }) => {
      const given = others as ParsedValues<A> & ParsedValues<O>;
      const { label, ...rest } = given as typeof given & { readonly label?: readonly string[] };
      const wanted = omitUndefined((await filter?.(rest as typeof given, skerry)) ?? rest);
      const pages = list(skerry, omitUndefined({ filter: wanted, label, sort }), given);
      const items = await pages.all(limit + 1);
      const shown = items.slice(0, limit);
      output.list(order && sort === undefined ? shown.sort(order) : shown, row.columns);
      if (items.length <= limit) return;
      terminal.warn(`skerry: showing the first ${limit} results; use --limit to show more`);
    },
  });
}

/** Removes undefined values, so that a query or a body contains only the fields that were given. */
export function omitUndefined<T extends object>(values: T): { [K in keyof T]?: Exclude<T[K], undefined> } {
  return Object.fromEntries(Object.entries(values).filter(([, value]) => value !== undefined)) as never;
}

/**
 * Fails if no field was given. `fields` have the API's names; the options are the same names in kebab case.
 */
export function requireChanges<T extends object>(fields: T): { [K in keyof T]?: Exclude<T[K], undefined> } {
  const body = omitUndefined(fields);
  if (Object.keys(body).length > 0) return body;
  const names = Object.keys(fields).map((field) => `--${kebabCase(field).replaceAll('_', '-')}`);
  const choice = new Intl.ListFormat('en', { type: 'disjunction' }).format(names);
  throw new Failure('usage', `nothing to change; specify ${choice}`);
}
