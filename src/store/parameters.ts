/**
 * The parameters of a statement: `$1` stands for an item of the values, `$name` for a property of the object
 * passed instead, `$rows.name` for the array of that property of its `rows`. Names become numbers once for
 * each text.
 */
import { createHash } from 'node:crypto';
import type { SqlValues } from '../kernel/sql.ts';

interface Statement {
  /** Short, so that it is prepared once per connection. */
  readonly name: string;
  readonly text: string;
  /** Its parameters in order, a property and that of its rows; empty when they are numbered. */
  readonly parameters: readonly (readonly [property: string, column?: string])[];
}

/** A statement as the driver sends it. */
export interface BoundStatement {
  readonly name: string;
  readonly text: string;
  readonly values: readonly unknown[];
}

/** Texts are constants, so the map is bounded. */
const statements = new Map<string, Statement>();

export function bindParameters(given: string, values: SqlValues = []): BoundStatement {
  const { name, text, parameters } = statements.get(given) ?? readStatement(given);
  if (Array.isArray(values)) return { name, text, values: values.map(encodeArray) };
  const found = parameters.map(([property, column]) => {
    const value = readProperty(values, property);
    const given = column === undefined ? value : (value as object[]).map((row) => readProperty(row, column));
    return encodeArray(given);
  });
  return { name, text, values: found };
}

/** Text that an array literal takes without quotes: ids, states, types. */
const PLAIN_TEXT = /^(?!null$)[a-z\d][\w.-]*$/i;

/**
 * Returns an array of numbers and plain text as PostgreSQL's literal, and any other value as it is. The
 * driver quotes every item, which takes longer than many a statement with 500 rows.
 */
function encodeArray(value: unknown): unknown {
  if (!Array.isArray(value)) return value;
  let literal = '';
  for (const item of value) {
    if (item === null) literal += ',NULL';
    else if (isPlain(item)) literal += `,${item}`;
    else return value;
  }
  return `{${literal.slice(1)}}`;
}

function isPlain(item: unknown): boolean {
  if (typeof item === 'string') return PLAIN_TEXT.test(item);
  return typeof item === 'number' || typeof item === 'bigint' || typeof item === 'boolean';
}

function readProperty(values: object, name: string): unknown {
  const value: unknown = Reflect.get(values, name);
  if (value === undefined) throw new Error(`a statement has no value for $${name}`);
  return value;
}

function readStatement(given: string): Statement {
  const names: string[] = [];
  if (/\$\d/.test(given) && /\$[a-z]/i.test(given)) throw new Error(`names and numbers: ${given}`);
  const text = given.replace(/\$([a-z]\w*(?:\.\w+)?)/gi, (_, name: string) => {
    if (!names.includes(name)) names.push(name);
    return `$${names.indexOf(name) + 1}`;
  });
  const statement = {
    name: `s${createHash('sha1').update(text).digest('hex').slice(0, 20)}`,
    text,
    parameters: names.map((name) => name.split('.') as [string, string?]),
  };
  statements.set(given, statement);
  return statement;
}

/** `$id, $name` for the columns `id, name`: the values of an `insert` that writes a whole row. */
export function parametersFor(columns: string): string {
  return columns.replace(/\w+/g, '$$$&');
}

/**
 * `id = $id, name = $name` for the columns `id, name`: an update of these columns. With the source
 * `excluded.`, the update of an upsert.
 */
export function assignmentsFor(columns: string, source = '$'): string {
  return columns.replace(/\w+/g, (column) => `${column} = ${source}${column}`);
}

/** The conditions of those properties of the filter that are given; all others match everything. */
export function conditionsFor<Filter extends object>(
  filter: Filter,
  conditions: { readonly [Name in keyof Required<Filter>]: string },
): string {
  const given = Object.entries<string>(conditions).filter(
    ([name]) => Reflect.get(filter, name) !== undefined,
  );
  return given.map(([, condition]) => condition).join(' and ') || 'true';
}
