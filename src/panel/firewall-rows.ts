/**
 * Rules as they stand in the editable table, which is one form: the cells of row 7 are called `d7 p7 o7 s7 a7 n7`, because a
 * hundred of them make a page. A row may be unfinished or empty; empty ones are no rules.
 */
import type { FirewallRule } from '../spec/schemas/firewall.ts';
import type { FormContext } from './form.ts';

export interface TypedRow {
  readonly direction: string;
  readonly proto: string;
  readonly port: string;
  readonly source: string;
  readonly action: string;
  readonly note: string;
}
export type Cell = keyof TypedRow;

/** By the letter that its name begins with. */
export const CELLS = {
  d: 'direction',
  p: 'proto',
  o: 'port',
  s: 'source',
  a: 'action',
  n: 'note',
} as const satisfies Record<string, Cell>;

export const NEW_ROW: TypedRow = {
  direction: 'in',
  proto: 'tcp',
  port: '',
  source: '',
  action: 'accept',
  note: '',
};
const NEW_ROWS = 3;

export function rowsOf(rules: readonly FirewallRule[]): readonly TypedRow[] {
  return rules.map((rule) => ({ ...rule, port: rule.port ?? '', note: rule.note ?? '' }));
}

/** Whether a form was refused because the group is another one by now: then it is shown as it is, not as it was sent. */
export function isStale({ problems }: Pick<FormContext, 'problems'>): boolean {
  return problems.some(({ field }) => field === 'seen');
}

/** The rows of a form in their order. */
export function typedRows(form: ReadonlyMap<string, string>): readonly TypedRow[] {
  const found = new Map<number, Record<string, string>>();
  for (const [name, value] of form) {
    const [, letter = '', index = ''] = /^([dposan])(\d{1,3})$/.exec(name) ?? [];
    if (letter === '') continue;
    const row = found.get(Number(index)) ?? {};
    row[CELLS[letter as keyof typeof CELLS]] = value.trim();
    found.set(Number(index), row);
  }
  const inOrder = [...found].sort(([a], [b]) => a - b);
  return inOrder.map(([, row]) => ({ ...NEW_ROW, ...row }));
}

/** Whether a row is no rule: what a fresh one is asked for is not there. */
export function isEmpty({ port, source, note }: TypedRow): boolean {
  return port === '' && source === '' && note === '';
}

/** The place of each row in the list of rules that is sent: null for an empty one. */
export function placesOf(rows: readonly TypedRow[]): readonly (number | null)[] {
  let next = 0;
  return rows.map((row) => {
    if (isEmpty(row)) return null;
    next += 1;
    return next - 1;
  });
}

/** With room to add some. */
export function withNewRows(rows: readonly TypedRow[]): readonly TypedRow[] {
  const empty = rows.filter(isEmpty).length;
  return [...rows, ...Array.from({ length: Math.max(NEW_ROWS - empty, 0) }, () => NEW_ROW)];
}

/** What a button that is not for saving does to the rows: `3:up`, `3:down`, `3:remove`, `move`, `more`. */
export function rearranged(
  rows: readonly TypedRow[],
  button: string,
  { from, to }: { readonly from: string; readonly to: string },
): readonly TypedRow[] {
  const [row = '', what = ''] = button.split(':');
  const at = Number(row);
  if (button === 'more') return [...rows, ...Array.from({ length: NEW_ROWS }, () => NEW_ROW)];
  if (button === 'move') return moved(rows, Number(from) - 1, Number(to) - 1);
  if (what === 'up') return moved(rows, at, at - 1);
  if (what === 'down') return moved(rows, at, at + 1);
  return what === 'remove' ? rows.filter((_, index) => index !== at) : rows;
}

function moved(rows: readonly TypedRow[], from: number, to: number): readonly TypedRow[] {
  const row = rows[from];
  if (row === undefined || !Number.isInteger(to) || to < 0) return rows;
  const others = rows.filter((_, index) => index !== from);
  return [...others.slice(0, to), row, ...others.slice(to)];
}
