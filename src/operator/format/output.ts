/**
 * Output of the operator's commands: for people as text, or as one JSON or YAML document. A list is an
 * array, a resource is an object, and a message is in `messages`.
 */
import { stringify } from 'yaml';
import { formatTable } from './columns.ts';

export interface Terminal {
  /** One line on standard output. */
  readonly out: (line: string) => void;
  /** One line on standard error. */
  readonly err: (line: string) => void;
  /** Asks a yes/no question; null when there is no terminal to answer it. */
  readonly ask: ((question: string) => Promise<boolean>) | null;
}

export const OUTPUT_FORMATS = ['table', 'json', 'yaml'] as const;
export type OutputFormat = (typeof OUTPUT_FORMATS)[number];

type Row = readonly string[];
type Fact = readonly [name: string, value: string | null];

/** A terminal that knows tables and facts. */
export interface Output extends Terminal {
  readonly table: (
    heading: Row,
    rows: readonly Row[],
    /** Text has no heading. */
    options?: { readonly isHeadless?: boolean },
  ) => void;
  /** One fact per line. Text omits those that are null. */
  readonly facts: (rows: readonly Fact[]) => void;
  /** The JSON or YAML document, in place of the printed text. */
  readonly document: (value: unknown) => void;
}

export interface OutputControl extends Output {
  setFormat(format: OutputFormat): void;
  /** Prints the document. Text was printed as it came. */
  end(): void;
}

export function createOutput(terminal: Terminal): OutputControl {
  let format: OutputFormat = 'table';
  let isEmpty = true;
  const tables: object[][] = [];
  let document: unknown;
  let facts: Record<string, string | null> | null = null;
  const messages: string[] = [];
  const printLines = (rows: readonly Row[]) => {
    for (const line of formatTable(rows)) terminal.out(line);
  };
  return {
    err: terminal.err,
    ask: terminal.ask,
    out: (line) => {
      isEmpty = false;
      if (format === 'table') terminal.out(line);
      else if (line !== '') messages.push(line);
    },
    table: (heading, rows, { isHeadless = false } = {}) => {
      isEmpty = false;
      if (format === 'table') printLines(isHeadless ? rows : [heading, ...rows]);
      else tables.push(rows.map((row) => toObject(heading, row)));
    },
    facts: (rows) => {
      isEmpty = false;
      if (format === 'table')
        printLines(rows.flatMap(([name, value]) => (value === null ? [] : [[name, value]])));
      else facts = { ...facts, ...Object.fromEntries(rows.map(([name, value]) => [toKey(name), value])) };
    },
    document: (value) => {
      isEmpty = false;
      document = value;
    },
    setFormat: (chosen) => {
      format = chosen;
    },
    end: () => {
      if (format === 'table' || isEmpty) return;
      const shown = document ?? toDocument({ tables, facts, messages });
      const text = format === 'json' ? JSON.stringify(shown, null, 2) : stringify(shown);
      terminal.out(text.trimEnd());
    },
  };
}

/** `paid until` → `paid_until`; a column without a heading has notes. */
function toKey(name: string): string {
  const key = name.toLowerCase().replace(/[^a-z0-9]+/g, '_');
  return key.replace(/^_|_$/g, '') || 'notes';
}

/** An empty cell has no value. */
function toObject(heading: Row, row: Row): object {
  return Object.fromEntries(heading.map((name, index) => [toKey(name), row[index] || null]));
}

function toDocument(parts: {
  readonly tables: readonly object[][];
  readonly facts: Readonly<Record<string, string | null>> | null;
  readonly messages: readonly string[];
}): unknown {
  const { tables, facts, messages } = parts;
  const [only, ...others] = tables;
  if (only && others.length === 0 && facts === null && messages.length === 0) return only;
  return {
    ...facts,
    ...(tables.length > 0 && { rows: tables.flat() }),
    ...(messages.length > 0 && { messages }),
  };
}
