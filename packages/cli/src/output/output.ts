/** Prints results in the format of `-o`: a table for people; JSON, YAML, or selected columns for scripts. */
import { createRequire } from 'node:module';
import type { Terminal } from '../terminal/terminal.ts';
import { type Column, type Format, formatCell, selectColumns } from './format.ts';
import { formatTable, tableWidth } from './table.ts';
import { hasControls, printable, printableJson } from './text.ts';

export class Output {
  readonly #terminal: Terminal;
  readonly #format: Format;
  readonly #header: boolean;

  constructor(terminal: Terminal, format: Format, header: boolean) {
    this.#terminal = terminal;
    this.#format = format;
    this.#header = header;
  }

  /** Whether a program reads the output: then it contains only the object. */
  get isMachineReadable(): boolean {
    return this.#format.kind === 'json' || this.#format.kind === 'yaml';
  }

  /** Prints items of one kind. `value` is shown as JSON and YAML; the items by default. */
  list<T>(items: readonly T[], columns: readonly Column<T>[], value: unknown = items): void {
    if (this.#writeData(value)) return;
    const selected = selectColumns(this.#format, columns);
    const shown = selected ?? columns.filter(({ hidden }) => !hidden);
    const rows = this.#formatRows(items, shown);
    const { stdout, columns: maxWidth } = this.#terminal;
    // A pipe and columns requested by name get full values.
    const isFull = !stdout.isTTY || selected !== null || tableWidth(rows) <= maxWidth;
    if (isFull) this.#terminal.write(formatTable(rows));
    else this.#terminal.write(formatTable(this.#formatRows(items, withoutIds(shown)), { maxWidth }));
  }

  /** Prints one item with its main columns, after a change to a few of its fields. */
  showRow<T>(item: T, columns: readonly Column<T>[]): void {
    this.list([item], columns, item);
  }

  #formatRows<T>(items: readonly T[], columns: readonly Column<T>[]): string[][] {
    const rows = items.map((item) => columns.map((column) => formatCell(column.value(item))));
    if (this.#header) rows.unshift(columns.map(({ name }) => name.toUpperCase().replaceAll('_', ' ')));
    return rows;
  }

  /** Prints one item, a line per column. */
  show<T>(item: T, columns: readonly Column<T>[]): void {
    if (this.#format.kind === 'columns') {
      this.list([item], columns);
      return;
    }
    if (this.#writeData(item)) return;
    const rows = columns.map((column) => [
      `${column.label ?? formatLabel(column.name)}:`,
      formatCell(column.value(item)),
    ]);
    this.#terminal.write(formatTable(rows));
  }

  /** Prints a table below the item for people only. */
  showSection<T>(title: string, items: readonly T[], columns: readonly Column<T>[]): void {
    if (this.#format.kind !== 'table') return;
    this.#terminal.write(`\n${title}:${items.length === 0 ? ' none' : ''}\n`);
    if (items.length > 0) this.list(items, columns);
  }

  /** Prints one item of a stream: a line, or a YAML document. */
  showNext<T>(item: T, columns: readonly Column<T>[]): void {
    const { kind } = this.#format;
    if (kind === 'json') {
      this.#terminal.write(`${printableJson(JSON.stringify(item))}\n`);
      return;
    }
    if (kind === 'yaml') {
      this.#terminal.write(`---\n${formatYaml(item)}`);
      return;
    }
    const chosen = selectColumns(this.#format, columns) ?? columns.filter(({ hidden }) => !hidden);
    const cells = chosen.map((column) => formatCell(column.value(item)));
    this.#terminal.write(formatTable([cells], { minWidths: chosen.map(({ width }) => width ?? 0) }));
  }

  /** Prints text without columns, such as a URL or a script. `value` is shown as JSON and YAML. */
  text(text: string, value: unknown): void {
    if (!this.#writeData(value)) this.#terminal.write(`${printable(text)}\n`);
  }

  #writeData(value: unknown): boolean {
    if (this.#format.kind === 'json')
      this.#terminal.write(`${printableJson(JSON.stringify(value, null, 2))}\n`);
    if (this.#format.kind === 'yaml') this.#terminal.write(formatYaml(value));
    return this.isMachineReadable;
  }
}

/** Drops the ID from a line that is too long if the item has a name: the ID is the longest word. */
function withoutIds<T>(columns: readonly Column<T>[]): readonly Column<T>[] {
  return columns.some(({ name }) => name === 'name') ? columns.filter(({ name }) => name !== 'id') : columns;
}

/** Words with their own capitalization. */
const SPELLINGS: Readonly<Record<string, string>> = {
  cpu: 'CPU',
  gb: 'GB',
  http: 'HTTP',
  ipv4: 'IPv4',
  ipv6: 'IPv6',
  mb: 'MB',
  ram: 'RAM',
  rdns: 'rDNS',
  ssh: 'SSH',
  uri: 'URI',
  url: 'URL',
  usd: 'USD',
};

/** Returns `Paid until` for `paid_until`. */
function formatLabel(name: string): string {
  const words = name.split('_').map((word) => SPELLINGS[word] ?? word);
  const text = words.join(' ');
  return `${text.slice(0, 1).toUpperCase()}${text.slice(1)}`;
}

function formatYaml(value: unknown): string {
  const { stringify } = loadYaml();
  const text = stringify(value);
  if (!hasControls(text)) return text;
  // YAML can escape control characters only in double quotes.
  return printableJson(stringify(value, { defaultStringType: 'QUOTE_DOUBLE' }));
}

type Yaml = typeof import('yaml');

let loaded: Yaml | undefined;

/** Loads the library on first use: it would add a tenth to the startup time of every command. */
export function loadYaml(): Yaml {
  loaded ??= createRequire(import.meta.url)('yaml') as Yaml;
  return loaded;
}
