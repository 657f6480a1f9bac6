/** Readers of unknown values. A reader that reported a problem returns undefined; others continue. */
export type Path = readonly (string | number)[];
export type Report = (path: Path, message: string) => void;
export type Reader<T> = (value: unknown, path: Path, report: Report) => T | undefined;

interface TextRules {
  readonly max: number;
  readonly min?: number;
  readonly pattern?: RegExp;
  /** A description of valid values if the pattern is not self-explanatory. */
  readonly description?: string;
}

/** Control characters, line breaks, and invisible characters. */
const UNPRINTABLE = /[\p{C}\p{Zl}\p{Zp}]/u;

export function text({ max, min = 1, pattern, description }: TextRules): Reader<string> {
  return (value, path, report) => {
    if (typeof value !== 'string') return reportWrongType(value, path, report, 'text');
    const normal = value.normalize('NFC');
    const chars = [...normal].length;
    if (chars < min || chars > max) {
      const bounds = min > 0 ? `${min} to ${max}` : `at most ${max}`;
      report(path, `has ${chars} characters; allowed: ${bounds}`);
    } else if (UNPRINTABLE.test(normal) || (pattern && !pattern.test(normal))) {
      report(path, description ? `is not ${description}` : 'contains unprintable characters');
    } else return normal;
    return undefined;
  };
}

/** Text of any length with line breaks, unchanged. */
export const multilineText: Reader<string> = (value, path, report) =>
  typeof value === 'string' ? value : reportWrongType(value, path, report, 'text');

export function integer(min: number, max: number): Reader<number> {
  return (value, path, report) => {
    if (typeof value === 'number' && Number.isInteger(value) && value >= min && value <= max) return value;
    if (typeof value !== 'number') return reportWrongType(value, path, report, 'a whole number');
    report(path, `is not a whole number from ${min} to ${max}`);
    return undefined;
  };
}

export const positiveNumber: Reader<number> = (value, path, report) => {
  if (typeof value === 'number' && Number.isFinite(value) && value >= 0) return value;
  if (typeof value !== 'number') return reportWrongType(value, path, report, 'a number');
  report(path, 'is not a number of 0 or more');
  return undefined;
};

export const bool: Reader<boolean> = (value, path, report) =>
  typeof value === 'boolean' ? value : reportWrongType(value, path, report, 'true or false');

export function oneOf<const T extends string | number>(...words: readonly T[]): Reader<T> {
  return (value, path, report) => {
    const found = words.find((word) => word === value);
    if (found === undefined) report(path, `must be one of ${words.join(', ')}`);
    return found;
  };
}

export function orNull<T>(read: Reader<T>): Reader<T | null> {
  return (value, path, report) => (value === null ? null : read(value, path, report));
}

/** Reads every item, so that all problems are reported. */
export function listOf<T>(read: Reader<T>, { min = 0, max }: { min?: number; max: number }): Reader<T[]> {
  return (value, path, report) => {
    if (!Array.isArray(value)) return reportWrongType(value, path, report, 'a list');
    if (value.length > max) report(path, `has ${value.length} items; at most ${max} are allowed`);
    else if (value.length < min) report(path, `is empty; at least ${min} is required`);
    else {
      const items = value.map((item, at) => read(item, [...path, at], report));
      if (items.every((item) => item !== undefined)) return items;
    }
    return undefined;
  };
}

/** A map with free names: `{ env: prod }`. `key` checks a name. */
export function mapOf<T>(
  read: Reader<T>,
  { key, max }: { key: (name: string) => string | null; max: number },
): Reader<Readonly<Record<string, T>>> {
  return (value, path, report) => {
    if (!isMap(value)) return reportWrongType(value, path, report, 'a map');
    const entries = Object.entries(value);
    if (entries.length > max) {
      report(path, `has ${entries.length} pairs; at most ${max} are allowed`);
      return undefined;
    }
    const pairs = entries.map(([name, item]) => {
      const fault = key(name);
      if (fault !== null) report([...path, name], fault);
      const one = read(item, [...path, name], report);
      return fault === null && one !== undefined ? ([name, one] as const) : undefined;
    });
    const read_ = pairs.filter((pair) => pair !== undefined);
    return read_.length === pairs.length ? Object.fromEntries(read_) : undefined;
  };
}

export interface Field<T> {
  readonly read: Reader<T>;
  readonly required: boolean;
}
export function required<T>(read: Reader<T>): Field<T> & { readonly required: true } {
  return { read, required: true };
}
export function optional<T>(read: Reader<T>): Field<T> & { readonly required: false } {
  return { read, required: false };
}

// biome-ignore lint/suspicious/noExplicitAny: fields of any type; Fields<F> keeps the type of each.
export type AnyFields = Readonly<Record<string, Field<any>>>;
export type Fields<F extends AnyFields> = {
  readonly [K in keyof F]: F[K] extends { readonly read: Reader<infer T>; readonly required: true }
    ? T
    : F[K] extends { readonly read: Reader<infer T> }
      ? T | undefined
      : never;
};

/** A map with exactly these fields. */
export function record<F extends AnyFields>(fields: F): Reader<Fields<F>> {
  return (value, path, report) => {
    if (!isMap(value)) return reportWrongType(value, path, report, 'a map');
    let isComplete = true;
    for (const name of Object.keys(value)) {
      if (Object.hasOwn(fields, name)) continue;
      report([...path, name], `is unknown; known fields: ${Object.keys(fields).join(', ')}`);
      isComplete = false;
    }
    const entries = Object.entries(fields).map(([name, field]) => {
      const given = Object.hasOwn(value, name) ? value[name] : undefined;
      if (given === undefined) {
        if (field.required) report([...path, name], 'is required');
        isComplete &&= !field.required;
        return [name, undefined] as const;
      }
      const read = field.read(given, [...path, name], report);
      isComplete &&= read !== undefined;
      return [name, read] as const;
    });
    return isComplete ? (Object.fromEntries(entries) as Fields<F>) : undefined;
  };
}

export function isMap(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function reportWrongType(value: unknown, path: Path, report: Report, wanted: string): undefined {
  const is = value === null ? 'is empty' : `is ${describeType(value)}`;
  const hint = wanted === 'text' && ['number', 'boolean'].includes(typeof value) ? '; put it in quotes' : '';
  report(path, `${is}, not ${wanted}${hint}`);
  return undefined;
}

function describeType(value: unknown): string {
  if (Array.isArray(value)) return 'a list';
  if (typeof value === 'string') return 'text';
  if (typeof value === 'boolean') return 'true or false';
  return isMap(value) ? 'a map' : 'a number';
}
