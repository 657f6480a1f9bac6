/** Formats cells in columns as wide as their widest cell. */
import { displayWidth, printable, truncate } from './text.ts';

const GAP = '   ';
/** Cells are never cut below this: IDs and addresses stay whole, so that they can be copied. */
const CELL_MIN = 40;

interface TableOptions {
  /** The terminal's width, if cells may be cut to fit. */
  readonly maxWidth?: number;
  /** The minimum width of each column. */
  readonly minWidths?: readonly number[];
}

/** Lines have no trailing spaces. */
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

/** Returns the width of the longest line. */
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

/** Shrinks the widest columns first, until the line fits or no column can shrink further. */
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
