/** Writes what a command found, as `-o` asks for it: a table for people, JSON, YAML or chosen columns for scripts. */
import { hasControls, printable, printableJson } from '../terminal/printable.ts';
import type { Terminal } from '../terminal/terminal.ts';
import { type Column, formatCell } from './columns.ts';
import { type Format, selectColumns } from './format.ts';
import { formatTable, tableWidth } from './table.ts';
import { loadYaml } from './yaml.ts';

export class Output {
  readonly #terminal: Terminal;
  readonly #format: Format;
  readonly #header: boolean;

  constructor(terminal: Terminal, format: Format, header: boolean) {
    this.#terminal = terminal;
    this.#format = format;
    this.#header = header;
  }

  /** Whether a program reads it: then nothing but the object may be written. */
  get isMachineReadable(): boolean {
    return this.#format.kind === 'json' || this.#format.kind === 'yaml';
  }

  /** Many of one kind. `value` is what JSON and YAML show, the items themselves if left out. */
  list<T>(items: readonly T[], columns: readonly Column<T>[], value: unknown = items): void {
    if (this.#writeData(value)) return;
    const selected = selectColumns(this.#format, columns);
    const shown = selected ?? columns.filter(({ hidden }) => !hidden);
    const rows = this.#formatRows(items, shown);
    const { stdout, columns: maxWidth } = this.#terminal;
    // Who asks for a column by name, or reads it by a program, wants all of it.
    if (!stdout.isTTY || selected !== null) this.#terminal.write(formatTable(rows));
    else if (tableWidth(rows) <= maxWidth) this.#terminal.write(formatTable(rows));
    else this.#terminal.write(formatTable(this.#formatRows(items, withoutIds(shown)), { maxWidth }));
  }

  /** One thing by its main columns, where the rest of it is as it was. */
  showRow<T>(item: T, columns: readonly Column<T>[]): void {
    this.list([item], columns, item);
  }

  #formatRows<T>(items: readonly T[], columns: readonly Column<T>[]): string[][] {
    const rows = items.map((item) => columns.map((column) => formatCell(column.value(item))));
    if (this.#header) rows.unshift(columns.map(({ name }) => name.toUpperCase().replaceAll('_', ' ')));
    return rows;
  }

  /** One thing, a line for each of its columns. */
  show<T>(item: T, columns: readonly Column<T>[], value: unknown = item): void {
    if (this.#format.kind === 'columns') {
      this.list([item], columns);
      return;
    }
    if (this.#writeData(value)) return;
    const rows = columns.map((column) => [formatLabel(column.name), formatCell(column.value(item))]);
    this.#terminal.write(formatTable(rows));
  }

  /** What belongs to the thing shown and has lines of its own: below it, for people only. */
  showSection<T>(title: string, items: readonly T[], columns: readonly Column<T>[]): void {
    if (this.#format.kind !== 'table') return;
    this.#terminal.write(`\n${title}:${items.length === 0 ? ' none' : ''}\n`);
    if (items.length > 0) this.list(items, columns);
  }

  /** One of many that come one by one, as they come: a line, or a YAML document. */
  showNext<T>(item: T, columns: readonly Column<T>[], value: unknown = item): void {
    const { kind } = this.#format;
    if (kind === 'json') {
      this.#terminal.write(`${printableJson(JSON.stringify(value))}\n`);
      return;
    }
    if (kind === 'yaml') {
      this.#terminal.write(`---\n${formatYaml(value)}`);
      return;
    }
    const chosen = selectColumns(this.#format, columns) ?? columns.filter(({ hidden }) => !hidden);
    const cells = chosen.map((column) => formatCell(column.value(item)));
    this.#terminal.write(formatTable([cells], { minWidths: chosen.map(({ width }) => width ?? 0) }));
  }

  /** Text that has no columns: a URL, a script. `value` is what JSON and YAML show. */
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

/** In a line that does not fit, the id of what has a name is the longest word that can be spared. */
function withoutIds<T>(columns: readonly Column<T>[]): readonly Column<T>[] {
  return columns.some(({ name }) => name === 'name') ? columns.filter(({ name }) => name !== 'id') : columns;
}

/** Words that are not written as others are. */
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

/** `paid_until` is `Paid until`. */
function formatLabel(name: string): string {
  const words = name.split('_').map((word) => SPELLINGS[word] ?? word);
  const text = words.join(' ');
  return `${text.slice(0, 1).toUpperCase()}${text.slice(1)}:`;
}

function formatYaml(value: unknown): string {
  const { stringify } = loadYaml();
  const text = stringify(value);
  if (!hasControls(text)) return text;
  // Only in quotes can they be written by their numbers, as in JSON.
  return printableJson(stringify(value, { defaultStringType: 'QUOTE_DOUBLE' }));
}
