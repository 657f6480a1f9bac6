/** Secrets of a test that must be readable nowhere, in whatever spelling; and all that a database holds, as text. */
import type { OpenDatabase } from '../../src/store/db.ts';

/** `everywhere`: neither in the database nor in a log. `logs`: the database may have it. */
type ForbiddenIn = 'everywhere' | 'logs';

interface Canary {
  readonly name: string;
  readonly forbiddenIn: ForbiddenIn;
  /** Lower-case spellings. */
  readonly encodings: readonly string[];
}

/** A part of a long secret gives it away, too. */
const FRAGMENT_CHARS = 24;

export class Canaries {
  readonly #canaries: Canary[] = [];

  /** Gives the text back. At least 7 characters: a shorter one would be found by chance. */
  add(name: string, text: string, forbiddenIn: ForbiddenIn = 'everywhere'): string {
    if (text.length < 7) throw new Error(`the canary ${name} is too short: ${text}`);
    const parts =
      text.length < 2 * FRAGMENT_CHARS
        ? [text]
        : [text.slice(0, FRAGMENT_CHARS), text.slice(-FRAGMENT_CHARS)];
    const encodings = new Set(parts.flatMap(encodingsOf).map((spelling) => spelling.toLowerCase()));
    this.#canaries.push({ name, forbiddenIn, encodings: [...encodings] });
    return text;
  }

  get names(): string[] {
    return this.#canaries.map(({ name }) => name);
  }

  /** Which canaries are in the text: `name: what stands around it`. */
  findIn(text: string, place: 'database' | 'log'): string[] {
    const haystack = text.toLowerCase();
    return this.#canaries.flatMap(({ name, forbiddenIn, encodings: spellings }) => {
      if (forbiddenIn === 'logs' && place === 'database') return [];
      const at = spellings.map((spelling) => haystack.indexOf(spelling)).find((index) => index >= 0);
      return at === undefined ? [] : [`${name}: ${text.slice(Math.max(at - 120, 0), at + 60)}`];
    });
  }
}

/** As it is, percent-encoded, in hexadecimal, and in Base64 wherever in a longer text it began. */
export function encodingsOf(text: string): string[] {
  const bytes = Buffer.from(text);
  const hex = bytes.toString('hex');
  const base64 = [0, 1, 2].flatMap((before) => {
    const whole = Buffer.concat([Buffer.alloc(before), bytes]);
    // Without the characters at both ends that depend on what stands beside it.
    const inner = whole
      .toString('base64')
      .replace(/=+$/, '')
      .slice(Math.ceil((before * 8) / 6), Math.floor((whole.length * 8) / 6));
    return [inner, inner.replaceAll('+', '-').replaceAll('/', '_')];
  });
  return [text, encodeURIComponent(text), hex.replace(/../g, '%$&'), hex, ...base64];
}

/** Every row of every table, the simulated world's too: a line each. */
export async function dumpDatabase(db: OpenDatabase): Promise<string> {
  const tables = await db.rows<{ name: string }>(
    `select format('%I.%I', schemaname, tablename) as name from pg_tables
      where schemaname not in ('pg_catalog', 'information_schema') order by name`,
  );
  const lines: string[] = [];
  for (const { name } of tables) {
    // Not the row's own text, which doubles quotes and backslashes.
    const rows = await db.rows<{ row: object }>(`select to_jsonb(t) as row from ${name} as t`);
    lines.push(...rows.map(({ row }) => `${name} ${flattenValues(row).join(' ')}`));
  }
  return lines.join('\n');
}

function flattenValues(value: unknown): string[] {
  if (typeof value !== 'object' || value === null) return [String(value)];
  return Object.entries(value).flatMap(([key, inner]) => [key, ...flattenValues(inner)]);
}
