/** A resource's columns: one table for `list`, for `-o columns=…` and for what `describe` shows. */
export interface Column<T> {
  /** Its word in `-o columns=…`; the heading is the same in capitals. */
  readonly name: string;
  readonly value: (item: T) => Cell;
  /** Shown only when asked for by name, and by `describe`. */
  readonly hidden?: boolean;
  /** Characters at least, where lines come one by one and cannot be measured first. */
  readonly width?: number;
}

export type Cell = string | number | boolean | null | undefined | readonly string[];

/** What stands for nothing. */
const EMPTY_CELL = '-';

export function formatCell(cell: Cell): string {
  if (cell === null || cell === undefined || cell === '') return EMPTY_CELL;
  if (typeof cell === 'boolean') return cell ? 'yes' : 'no';
  if (Array.isArray(cell)) return cell.length === 0 ? EMPTY_CELL : cell.join(',');
  return String(cell);
}

/** `2026-01-31 12:00` */
export function formatTime(rfc3339: string | null | undefined): string | null {
  return rfc3339 ? rfc3339.slice(0, 16).replace('T', ' ') : null;
}

/** `5.00` */
export function formatUsd(amount: number | null | undefined): string | null {
  return amount === null || amount === undefined ? null : amount.toFixed(2);
}
