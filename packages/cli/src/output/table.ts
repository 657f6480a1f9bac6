/** Cells in columns as wide as their widest one. */
import { printable } from '../terminal/printable.ts';
import { displayWidth, truncate } from './width.ts';

const GAP = '   ';
/** No cell is cut to less: ids and addresses stay whole, so that they can be copied. */
const CELL_MIN = 40;

interface TableOptions {
  /** The width of the terminal, where cells may be cut to fit it. */
  readonly maxWidth?: number;
  /** The least width of each column. */
  readonly minWidths?: readonly number[];
}

/** Nothing stands after the last column, no line ends in spaces. */
export function formatTable(
  rows: readonly (readonly string[])[],
  { maxWidth, minWidths: least = [] }: TableOptions = {},
): string {
  const cells = rows.map((row) => row.map(toSingleLine));
  const naturalWidths = measureColumns(cells, least);
  const widths = maxWidth === undefined ? naturalWidths : fitWidths(naturalWidths, maxWidth);
  const line = (row: readonly string[]) =>
    row
      .map((cell, at) => {
        const width = widths[at] ?? 0;
        const shown = truncate(cell, width);
        return shown + ' '.repeat(width - displayWidth(shown));
      })
      .join(GAP);
  return cells.map((row) => `${line(row).trimEnd()}\n`).join('');
}

/** Of its longest line. */
export function tableWidth(rows: readonly (readonly string[])[]): number {
  const widths = measureColumns(
    rows.map((row) => row.map(toSingleLine)),
    [],
  );
  return widths.reduce((sum, width) => sum + width, 0) + GAP.length * (widths.length - 1);
}

function toSingleLine(cell: string): string {
  return printable(cell.replace(/[\t\r\n]+/g, ' '));
}

function measureColumns(cells: readonly (readonly string[])[], least: readonly number[]): number[] {
  const widths = [...least];
  for (const row of cells) {
    row.forEach((cell, at) => {
      widths[at] = Math.max(widths[at] ?? 0, displayWidth(cell));
    });
  }
  return widths;
}

/** The widest column gives way first, until the line fits or nothing may be cut any more. */
function fitWidths(natural: readonly number[], fitTo: number): number[] {
  const widths = [...natural];
  let over = widths.reduce((sum, width) => sum + width, 0) + GAP.length * (widths.length - 1) - fitTo;
  while (over > 0) {
    const widest = Math.max(...widths);
    if (widest <= CELL_MIN) break;
    const next = Math.max(CELL_MIN, ...widths.filter((width) => width < widest));
    const many = widths.filter((width) => width === widest).length;
    const less = Math.min(widest - next, Math.ceil(over / many));
    for (const [at, width] of widths.entries()) if (width === widest) widths[at] = width - less;
    over -= less * many;
  }
  return widths;
}
