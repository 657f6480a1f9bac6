/** All rules of a firewall group as one table to edit. The page is long where there are many, so its rows are short. */
import { PANEL_PATHS, resourcePath } from '../spec/paths.ts';
import { type FirewallGroup, RULE_ACTIONS, RULE_DIRECTIONS, RULE_PROTOS } from '../spec/schemas/firewall.ts';
import { CELL_BY_LETTER, type Cell, type RuleRow, rulePositions, withNewRows } from './firewall-rows.ts';
import { type FormContext, form } from './form.ts';
import { Html, html } from './html.ts';
import type { View } from './layout.ts';

/** Beyond so many rows only the fields below the table move one. */
const ROWS_WITH_BUTTONS = 50;

const CHOICES = { direction: RULE_DIRECTIONS, proto: RULE_PROTOS, action: RULE_ACTIONS } as const;
const LABELS = {
  direction: 'Direction',
  proto: 'Protocol',
  port: 'Ports',
  source: 'Peer',
  action: 'Action',
  note: 'Note',
} as const satisfies Record<Cell, string>;

export function editorView(data: {
  readonly group: FirewallGroup;
  readonly rows: readonly RuleRow[];
  /** Stands for the rules that the rows were made of. */
  readonly seen: string;
  readonly forms: FormContext;
}): View {
  const { group, forms } = data;
  const page = resourcePath(PANEL_PATHS.firewall, group.id);
  return {
    title: `Rules of ${group.name}`,
    section: 'firewall',
    breadcrumbs: [
      ['Firewall', PANEL_PATHS.firewall],
      [group.name, page],
    ],
    body: html`<p>The first rule that matches wins; what none matches is ${group.default_action === 'drop' ? 'dropped' : 'accepted'}. Nothing
changes before the rules are saved; then all change at once. Rows without ports, peer and note are left out.</p>
${form(forms, { name: 'rules', action: `${page}/rules`, class: 'rules' }, editorTable(data))}
<p class="hint">Ports: one, some with commas, or a range, such as 443, 80,443 or 8000-8999; empty means all. Only TCP and UDP have ports.
Peer: the other side, whichever way it goes, such as 203.0.113.0/24, 203.0.113.7/32, 0.0.0.0/0 for all of IPv4 or ::/0 for all of IPv6.</p>`,
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
<p><button>Save the rules</button></p>
${listProblem !== undefined && html`<p class="problem">${listProblem}</p>`}
<div class="scroll"><table>
<caption>Rules, in their order</caption>
<thead><tr>${heads}${buttons && html`<td></td>`}</tr></thead>
<tbody>
${lines}</tbody></table></div>
<p class="row"><button>Save the rules</button> <button class="plain" name="go" value="more">More empty rows</button></p>
<p class="row"><label>Move row <input name="from" size="3" inputmode="numeric"></label> <label>to place <input name="to" size="3" inputmode="numeric"></label>
<button class="plain" name="go" value="move">Move it</button></p>`;
}

interface EditorRow {
  readonly index: number;
  /** Among the rules that are sent. */
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
    // The end of an option may be left out.
    const options = words.map((word) => html`<option${word === value && new Html(' selected')}>${word}`);
    return html`<select name="${name}" aria-label="${LABELS[cell]}"${bad}>${options}</select>${note}`;
  }
  return html`<input name="${name}" aria-label="${LABELS[cell]}" value="${value}"${bad}>${note}`;
}

function rowButtons(index: number): Html {
  const button = (action: string, symbol: string) =>
    html`<button class="quiet" name="go" value="${index}:${action}" aria-label="Row ${index + 1}: ${action}" title="${action}">${symbol}</button> `;
  return html`<td class="actions">${index > 0 && button('up', '↑')}${button('down', '↓')}${button('remove', '×')}`;
}
