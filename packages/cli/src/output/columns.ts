/** Columns of a resource: one table for `list`, `-o columns=…`, and `describe`. */
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
