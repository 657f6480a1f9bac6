/**
 * Rules as rows of the editor, which is one form. The cells of row 7 are named `d7 p7 o7 s7 a7 n7`: short
 * names keep a page with many rules small. A row may be incomplete or empty; empty rows are not rules.
 */
import type { FirewallRule } from '../../spec/schemas/firewall.ts';
import type { FormContext } from '../parts/form.ts';

export interface RuleRow {
  readonly direction: string;
  readonly proto: string;
  readonly port: string;
  readonly source: string;
  readonly action: string;
  readonly note: string;
}
export type Cell = keyof RuleRow;

/** Columns by the first letter of their field names. */
export const CELL_BY_LETTER = {
  d: 'direction',
  p: 'proto',
  o: 'port',
  s: 'source',
  a: 'action',
  n: 'note',
} as const satisfies Record<string, Cell>;

/** The panel's words for the values of a rule. Options are sent as these words, which keeps rows small. */
export const RULE_WORDS = {
  direction: { in: 'Inbound', out: 'Outbound' },
  proto: { tcp: 'TCP', udp: 'UDP', icmp: 'ICMP', any: 'Any' },
  action: { accept: 'Allow', drop: 'Drop', reject: 'Reject' },
} as const satisfies {
  readonly direction: Record<FirewallRule['direction'], string>;
  readonly proto: Record<FirewallRule['proto'], string>;
  readonly action: Record<FirewallRule['action'], string>;
};

export function isWordCell(cell: Cell): cell is keyof typeof RULE_WORDS {
  return cell in RULE_WORDS;
}

const NEW_ROW: RuleRow = {
  direction: 'in',
  proto: 'tcp',
  port: '',
  source: '',
  action: 'accept',
  note: '',
};
const NEW_ROWS = 3;

/** Presets of inbound rules. Each adds a rule for IPv4 and one for IPv6, because no block covers both. */
export const PRESETS = {
  ssh: { title: 'SSH', row: { port: '22' } },
  web: { title: 'HTTP and HTTPS', row: { port: '80,443' } },
  ping: { title: 'Ping (ICMP)', row: { proto: 'icmp', note: 'Ping' } },
} as const satisfies Record<string, { readonly title: string; readonly row: Partial<RuleRow> }>;
const EVERYWHERE = ['0.0.0.0/0', '::/0'];

export function rowsFromRules(rules: readonly FirewallRule[]): readonly RuleRow[] {
  return rules.map((rule) => ({ ...rule, port: rule.port ?? '', note: rule.note ?? '' }));
}

/** Whether a form was rejected because the group changed meanwhile. The page then shows the current group. */
export function isStale({ problems }: Pick<FormContext, 'problems'>): boolean {
  return problems.some(({ field }) => field === 'seen');
}

/** Returns the rows of a submitted form, in order. */
export function rowsFromForm(form: ReadonlyMap<string, string>): readonly RuleRow[] {
  const rowsByIndex = new Map<number, Record<string, string>>();
  for (const [name, value] of form) {
    const [, letter = '', index = ''] = /^([dposan])(\d{1,3})$/.exec(name) ?? [];
    if (letter === '') continue;
    const row = rowsByIndex.get(Number(index)) ?? {};
    const cell = CELL_BY_LETTER[letter as keyof typeof CELL_BY_LETTER];
    row[cell] = isWordCell(cell) ? valueOfWord(cell, value.trim()) : value.trim();
    rowsByIndex.set(Number(index), row);
  }
  const inOrder = [...rowsByIndex].sort(([a], [b]) => a - b);
  return inOrder.map(([, row]) => ({ ...NEW_ROW, ...row }));
}

function valueOfWord(cell: keyof typeof RULE_WORDS, word: string): string {
  const found = Object.entries(RULE_WORDS[cell]).find(([, each]) => each === word);
  return found?.[0] ?? word;
}

/** Whether a row has none of the values that a rule needs. */
export function isEmptyRow({ port, source, note }: RuleRow): boolean {
  return port === '' && source === '' && note === '';
}

/** Returns each row's position in the submitted list of rules; null for an empty row. */
export function rulePositions(rows: readonly RuleRow[]): readonly (number | null)[] {
  let next = 0;
  return rows.map((row) => {
    if (isEmptyRow(row)) return null;
    next += 1;
    return next - 1;
  });
}

/** Appends empty rows for new rules. */
export function withNewRows(rows: readonly RuleRow[]): readonly RuleRow[] {
  const empty = rows.filter(isEmptyRow).length;
  return [...rows, ...Array.from({ length: Math.max(NEW_ROWS - empty, 0) }, () => NEW_ROW)];
}

/** Applies a button that does not save: `3:up`, `3:down`, `3:remove`, `move`, `more`, `preset:ssh`. */
export function rearrangeRows(
  rows: readonly RuleRow[],
  button: string,
  { from, to }: { readonly from: string; readonly to: string },
): readonly RuleRow[] {
  const [row = '', action = ''] = button.split(':');
  const at = Number(row);
  if (button === 'more') return [...rows, ...Array.from({ length: NEW_ROWS }, () => NEW_ROW)];
  if (row === 'preset') return addPreset(rows, action);
  if (button === 'move') return moveRow(rows, Number(from) - 1, Number(to) - 1);
  if (action === 'up') return moveRow(rows, at, at - 1);
  if (action === 'down') return moveRow(rows, at, at + 1);
  return action === 'remove' ? rows.filter((_, index) => index !== at) : rows;
}

function addPreset(rows: readonly RuleRow[], name: string): readonly RuleRow[] {
  if (!Object.hasOwn(PRESETS, name)) return rows;
  const { title, row } = PRESETS[name as keyof typeof PRESETS];
  const added = EVERYWHERE.map((source): RuleRow => ({ ...NEW_ROW, note: title, ...row, source }));
  return [...rows.filter((each) => !isEmptyRow(each)), ...added];
}

function moveRow(rows: readonly RuleRow[], from: number, to: number): readonly RuleRow[] {
  const row = rows[from];
  if (row === undefined || !Number.isInteger(to) || to < 0) return rows;
  const others = rows.filter((_, index) => index !== from);
  return [...others.slice(0, to), row, ...others.slice(to)];
}
