/**
 * The columns of a resource, one table for `list`, `-o columns=…`, and `describe`, and the format that `-o`
 * selects.
 */
import { Failure } from '../exit-codes.ts';
import { splitCommas } from '../options.ts';

export interface Column<T> {
  /** The name in `-o columns=…`; the heading is the same in capitals. */
  readonly name: string;
  /** The label of `describe`, if the name is not clear to people. */
  readonly label?: string;
  readonly value: (item: T) => Cell;
  /** Shown only by `describe` or if requested by name. */
  readonly hidden?: boolean;
  /** Minimum width in characters, for lines that are printed one at a time and cannot be measured first. */
  readonly width?: number;
}

export type Cell = string | number | boolean | null | undefined | readonly string[];

type FieldOf<T, Value> = {
  [Name in keyof T & string]-?: T[Name] extends Value | undefined ? Name : never;
}[keyof T & string];

/** Columns that show fields of the item under their names. */
export function fields<T>(...names: readonly FieldOf<T, Cell>[]): Column<T>[] {
  return names.map((name) => ({ name, value: (item) => item[name] as Cell }));
}

/** Fields with RFC 3339 times. */
export function times<T>(...names: readonly FieldOf<T, string | null>[]): Column<T>[] {
  return names.map((name) => ({ name, value: (item) => formatTime(item[name] as string | null) }));
}

/** Fields with US dollars. */
export function amounts<T>(...names: readonly FieldOf<T, number | null>[]): Column<T>[] {
  return names.map((name) => ({ name, value: (item) => formatUsd(item[name] as number | null) }));
}

export function hidden<T>(columns: readonly Column<T>[]): Column<T>[] {
  return columns.map((column) => ({ ...column, hidden: true }));
}

/** Placeholder for an empty cell. */
const EMPTY_CELL = '-';

export function formatCell(cell: Cell): string {
  if (cell === null || cell === undefined || cell === '') return EMPTY_CELL;
  if (typeof cell === 'boolean') return cell ? 'yes' : 'no';
  if (Array.isArray(cell)) return cell.length === 0 ? EMPTY_CELL : cell.join(',');
  return String(cell);
}

/** `2026-01-31 12:00`; all times are UTC. */
export function formatTime(rfc3339: string | null | undefined): string | null {
  return rfc3339 ? rfc3339.slice(0, 16).replace('T', ' ') : null;
}

/** `5.00` */
export function formatUsd(amount: number | null | undefined): string | null {
  return amount === null || amount === undefined ? null : amount.toFixed(2);
}

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
  const names = splitCommas(list);
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
