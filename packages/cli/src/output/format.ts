/** The output format that `-o` selects. */
import { Failure } from '../exit-codes.ts';
import type { Column } from './columns.ts';

export type Format =
  | { readonly kind: 'table' }
  | { readonly kind: 'json' }
  | { readonly kind: 'yaml' }
  | { readonly kind: 'columns'; readonly names: readonly string[] };

export const FORMATS = ['table', 'json', 'yaml', 'columns='] as const;
const FORMAT_SYNTAX = 'table, json, yaml, or columns=NAME,NAME';

export function parseFormat(text: string): Format {
  if (text === 'table' || text === 'json' || text === 'yaml') return { kind: text };
  const list = /^columns=(.*)$/s.exec(text)?.[1];
  if (list === undefined) throw new Failure('usage', `--output: "${text}" is invalid; use ${FORMAT_SYNTAX}`);
  const names = list
    .split(',')
    .map((name) => name.trim())
    .filter(Boolean);
  if (names.length === 0)
    throw new Failure('usage', '--output: columns= needs names, such as columns=id,name');
  return { kind: 'columns', names };
}

/** Returns the columns that were requested by name; null if none were. */
export function selectColumns<T>(format: Format, columns: readonly Column<T>[]): readonly Column<T>[] | null {
  if (format.kind !== 'columns') return null;
  return format.names.map((name) => {
    const column = columns.find((one) => one.name === name);
    if (column) return column;
    if (columns.length === 0) throw new Failure('usage', '--output: this command has no columns');
    const names = columns.map((one) => one.name).join(', ');
    throw new Failure('usage', `--output: column "${name}" not found; available: ${names}`);
  });
}

/**
 * Checks the columns before the command runs, so that a typo cannot fail an order that was already placed.
 */
export function checkColumns(format: Format, columns: readonly Column<unknown>[]): void {
  selectColumns(format, columns);
}
