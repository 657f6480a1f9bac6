/** Canary secrets that must not be readable in any encoding, and a text dump of a whole database. */
import type { OpenDatabase } from '../../src/store/db.ts';

/** `everywhere`: neither the database nor a log may contain it. `logs`: the database may. */
type ForbiddenIn = 'everywhere' | 'logs';

interface Canary {
  readonly name: string;
  readonly forbiddenIn: ForbiddenIn;
  /** In lower case. */
  readonly encodings: readonly string[];
}

/** A fragment of a long secret also gives it away. */
const FRAGMENT_CHARS = 24;

export class Canaries {
  readonly #canaries: Canary[] = [];

  /** Returns the text. Requires at least 7 characters: a shorter text could match by chance. */
  add(name: string, text: string, forbiddenIn: ForbiddenIn = 'everywhere'): string {
    if (text.length < 7) throw new Error(`the canary ${name} is too short: ${text}`);
    const parts =
      text.length < 2 * FRAGMENT_CHARS
        ? [text]
        : [text.slice(0, FRAGMENT_CHARS), text.slice(-FRAGMENT_CHARS)];
    const encodings = new Set(parts.flatMap(encodingsOf).map((encoding) => encoding.toLowerCase()));
    this.#canaries.push({ name, forbiddenIn, encodings: [...encodings] });
    return text;
  }

  get names(): string[] {
    return this.#canaries.map(({ name }) => name);
  }

  /** Returns the canaries that the text contains, as `name: surrounding text`. */
  findIn(text: string, place: 'database' | 'log'): string[] {
    const haystack = text.toLowerCase();
    return this.#canaries.flatMap(({ name, forbiddenIn, encodings }) => {
      if (forbiddenIn === 'logs' && place === 'database') return [];
      const at = encodings.map((encoding) => haystack.indexOf(encoding)).find((index) => index >= 0);
      return at === undefined ? [] : [`${name}: ${text.slice(Math.max(at - 120, 0), at + 60)}`];
    });
  }
}

/**
 * Returns the text plain, percent-encoded, in hexadecimal, and in Base64 at each of the three byte offsets.
 */
export function encodingsOf(text: string): string[] {
  const bytes = Buffer.from(text);
  const hex = bytes.toString('hex');
  const base64 = [0, 1, 2].flatMap((before) => {
    const whole = Buffer.concat([Buffer.alloc(before), bytes]);
    // Drop the characters at both ends: they depend on the neighboring bytes.
    const inner = whole
      .toString('base64')
      .replace(/=+$/, '')
      .slice(Math.ceil((before * 8) / 6), Math.floor((whole.length * 8) / 6));
    return [inner, inner.replaceAll('+', '-').replaceAll('/', '_')];
  });
  return [text, encodeURIComponent(text), hex.replace(/../g, '%$&'), hex, ...base64];
}

/** Dumps every row of every table, one line each, including the tables of the simulated world. */
export async function dumpDatabase(db: OpenDatabase): Promise<string> {
  const tables = await db.rows<{ name: string }>(
    `select format('%I.%I', schemaname, tablename) as name from pg_tables
      where schemaname not in ('pg_catalog', 'information_schema') order by name`,
  );
  const lines: string[] = [];
  for (const { name } of tables) {
    // A row's own text representation doubles quotes and backslashes, so use JSON.
    const rows = await db.rows<{ row: object }>(`select to_jsonb(t) as row from ${name} as t`);
    lines.push(...rows.map(({ row }) => `${name} ${flattenValues(row).join(' ')}`));
  }
  return lines.join('\n');
}

function flattenValues(value: unknown): string[] {
  if (typeof value !== 'object' || value === null) return [String(value)];
  return Object.entries(value).flatMap(([key, inner]) => [key, ...flattenValues(inner)]);
}
