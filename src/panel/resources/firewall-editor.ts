/** The rule editor of a firewall group, in one table. Rows are kept short: a group can have many rules. */
import { PANEL_PATHS, resourcePath } from '../../spec/paths.ts';
import {
  type FirewallGroup,
  RULE_ACTIONS,
  RULE_DIRECTIONS,
  RULE_PROTOS,
} from '../../spec/schemas/firewall.ts';
import { type FormContext, form } from '../parts/form.ts';
import { Html, html } from '../parts/html.ts';
import type { View } from '../parts/layout.ts';
import { CELL_BY_LETTER, type Cell, type RuleRow, rulePositions, withNewRows } from './firewall-rows.ts';

/** With more rows, rows are moved only with the fields below the table, to keep the page small. */
const ROWS_WITH_BUTTONS = 50;

const CHOICES = { direction: RULE_DIRECTIONS, proto: RULE_PROTOS, action: RULE_ACTIONS } as const;
const LABELS = {
  direction: 'Direction',
  proto: 'Protocol',
  port: 'Ports',
  source: 'Source / Destination',
  action: 'Action',
  note: 'Note',
} as const satisfies Record<Cell, string>;

export function editorView(data: {
  readonly group: FirewallGroup;
  readonly rows: readonly RuleRow[];
  /** Identifies the rules that the rows were built from, to detect concurrent changes. */
  readonly seen: string;
  readonly forms: FormContext;
}): View {
  const { group, forms } = data;
  const page = resourcePath(PANEL_PATHS.firewall, group.id);
  return {
    title: `${group.name}: rules`,
    section: 'firewall',
    breadcrumbs: [
      ['Firewall', PANEL_PATHS.firewall],
      [group.name, page],
    ],
    pageName: 'Rules',
    body: html`<p>Rules are applied in order; the first match wins. If no inbound rule matches, the default
policy applies: ${group.default_action}. All changes take effect together when you save. Empty rows are
ignored.</p>
${form(forms, { name: 'rules', action: `${page}/rules`, class: 'rules' }, editorTable(data))}
<p class="hint">Ports: a port, a list, or a range, such as 443, or 80,443, or 8000-8999. Leave empty for all
ports. Only TCP and UDP have ports. Source (inbound) or destination (outbound): an address range such as
203.0.113.0/24 or 203.0.113.7/32; 0.0.0.0/0 means all IPv4 and ::/0 all IPv6.</p>`,
  };
}

function editorTable({ rows: given, seen, forms }: Parameters<typeof editorView>[0]): Html {
  const rows = withNewRows(given);
  const buttons = rows.length <= ROWS_WITH_BUTTONS;
  const positions = rulePositions(rows);
  const problems = new Map(
    forms.refused?.name === 'rules' ? forms.problems.map(({ field, message }) => [field, message]) : [],
  );
  const lines = rows.map((row, index) =>
    editorRow(row, { index, position: positions[index] ?? null, problems, buttons }),
  );
  const heads = ['#', ...Object.values(LABELS)].map((name) => html`<th scope="col">${name}</th>`);
  const listProblem = problems.get('rules');
  return html`<input type="hidden" name="seen" value="${seen}">
<p><button>Save rules</button></p>
${listProblem !== undefined && html`<p class="problem">${listProblem}</p>`}
<div class="scroll"><table>
<caption>Rules, in order</caption>
<thead><tr>${heads}${buttons && html`<td></td>`}</tr></thead>
<tbody>
${lines}</tbody></table></div>
<p class="row"><button>Save rules</button>
<button class="plain" name="go" value="more">Add empty rows</button></p>
<p class="row"><label>Move row <input name="from" size="3" inputmode="numeric"></label>
<label>to position <input name="to" size="3" inputmode="numeric"></label>
<button class="plain" name="go" value="move">Move row</button></p>`;
}

interface EditorRow {
  readonly index: number;
  /** The rule's position among the submitted rules; null for an empty row. */
  readonly position: number | null;
  readonly problems: ReadonlyMap<string, string>;
  readonly buttons: boolean;
}

function editorRow(row: RuleRow, { index, position, problems, buttons }: EditorRow): Html {
  const cells = Object.entries(CELL_BY_LETTER).map(([letter, cell]) => {
    const problem = position === null ? undefined : problems.get(`rules.${position}.${cell}`);
    return html`<td>${cellControl(`${letter}${index}`, cell, { value: row[cell], problem })}`;
  });
  return html`<tr><th>${index + 1}${cells}${buttons && rowButtons(index)}\n`;
}

function cellControl(
  name: string,
  cell: Cell,
  { value, problem }: { readonly value: string; readonly problem: string | undefined },
): Html {
  const bad = problem !== undefined && html` aria-invalid="true" aria-describedby="${name}-problem"`;
  const note = problem !== undefined && html`<p class="problem" id="${name}-problem">${problem}</p>`;
  if (cell === 'direction' || cell === 'proto' || cell === 'action') {
    const words: readonly string[] = CHOICES[cell];
    // HTML allows omitting the end tag of an option.
    const options = words.map((word) => html`<option${word === value && new Html(' selected')}>${word}`);
    return html`<select name="${name}" aria-label="${LABELS[cell]}"${bad}>${options}</select>${note}`;
  }
  return html`<input name="${name}" aria-label="${LABELS[cell]}" value="${value}"${bad}>${note}`;
}

function rowButtons(index: number): Html {
  const button = (action: string, title: string, symbol: string) =>
    html`<button class="quiet" name="go" value="${index}:${action}" aria-label="Row ${index + 1}: ${title}"
title="${title}">${symbol}</button> `;
  const moveUp = index > 0 && button('up', 'move up', '↑');
  const moveDown = button('down', 'move down', '↓');
  return html`<td class="actions">${moveUp}${moveDown}${button('remove', 'remove', '×')}`;
}
