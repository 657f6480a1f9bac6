/** The page of a firewall group: its rules as one editable table. Rows are kept short: there can be many. */
import { PANEL_PATHS } from '../../spec/paths.ts';
import type { FirewallGroup } from '../../spec/schemas/firewall.ts';
import { type FormContext, form } from '../parts/form.ts';
import { Html, html } from '../parts/html.ts';
import type { View } from '../parts/layout.ts';
import { groupFacts, groupTabs } from './firewall.ts';
import { answerNote, checkFields, type PacketCheck, rowOfRule } from './firewall-check.ts';
import {
  CELL_BY_LETTER,
  type Cell,
  isWordCell,
  PRESETS,
  RULE_WORDS,
  type RuleRow,
  rulePositions,
  withNewRows,
} from './firewall-rows.ts';

/** With more rows, rows are moved only with the fields below the table, to keep the page small. */
const ROWS_WITH_BUTTONS = 50;

const LABELS = {
  direction: 'Direction',
  proto: 'Protocol',
  port: 'Port range',
  source: 'Source / Destination',
  action: 'Action',
  note: 'Description',
} as const satisfies Record<Cell, string>;

interface EditorData {
  readonly group: FirewallGroup;
  readonly rows: readonly RuleRow[];
  /** Identifies the rules that the rows were built from, to detect concurrent changes. */
  readonly seen: string;
  /** The rows were changed by a button that does not save. */
  readonly unsaved: boolean;
  readonly check: PacketCheck;
  readonly forms: FormContext;
}

export function editorView(data: EditorData): View {
  const { group, forms, unsaved } = data;
  return {
    title: group.name,
    section: 'firewall',
    breadcrumbs: [['Firewall', PANEL_PATHS.firewall]],
    header: { facts: groupFacts(group) },
    body: html`${groupTabs(group, 'rules')}
<p>The first row that matches a packet decides. If no inbound row matches, the default policy applies:
${RULE_WORDS.action[group.default_action]}. Replies within an allowed connection pass automatically.
The firewall runs outside your servers, so software on them can’t change it.</p>
${
  blocksAllInbound(group) &&
  html`<p class="hint">No rule allows inbound traffic, so servers in this group are unreachable.</p>\n`
}${unsaved && html`<p class="banner warn">Not saved yet. Save the rules to apply them.</p>`}
${form(forms, { name: 'rules', class: 'rules' }, editorTable(data))}`,
  };
}

function blocksAllInbound({ rules, default_action: byDefault }: FirewallGroup): boolean {
  return (
    byDefault === 'drop' && !rules.some(({ direction, action }) => direction === 'in' && action === 'accept')
  );
}

function editorTable(data: EditorData): Html {
  const { seen, forms, check, group } = data;
  const rows = withNewRows(data.rows);
  const buttons = rows.length <= ROWS_WITH_BUTTONS;
  const positions = rulePositions(rows);
  const problems = new Map(
    forms.refused?.name === 'rules' ? forms.problems.map(({ field, message }) => [field, message]) : [],
  );
  const { answer } = check;
  const hit = answer?.rule === undefined || answer.rule === null ? null : rowOfRule(rows, answer.rule);
  const lines = rows.map((row, index) =>
    editorRow(row, { index, position: positions[index] ?? null, problems, buttons, isHit: index === hit }),
  );
  const heads = Object.entries(CELL_BY_LETTER).map(
    ([letter, cell]) => html`<th scope="col" id="${headId(letter)}">${LABELS[cell]}</th>`,
  );
  const listProblem = problems.get('rules');
  // Enter presses the first button, which must not save.
  return html`<input type="hidden" name="seen" value="${seen}">
<button name="go" value="enter" formaction="#check" class="unseen" tabindex="-1" aria-hidden="true"></button>
<p class="row presets"><span>Add rules for</span> ${presetButtons()}</p>
${listProblem !== undefined && html`<p class="problem">${listProblem}</p>`}
<div class="scroll"><table>
<caption>Rules, in order</caption>
<thead><tr><th scope="col">#</th>${heads}${buttons && html`<td></td>`}</tr></thead>
<tbody>
${lines}</tbody></table></div>
<p class="row"><button>Save rules</button>
<button class="plain" name="go" value="more">Add empty rows</button></p>
${moveFields()}
<p class="hint">Port range: a port, a list, or a range, such as 443, or 80,443, or 8000-8999. Leave empty for
all ports. Only TCP and UDP have ports. Source (inbound) or destination (outbound): an address range such as
203.0.113.0/24 or 203.0.113.7/32; 0.0.0.0/0 means all IPv4 and ::/0 all IPv6. Empty rows are ignored.</p>
<h2 id="check">Would this packet pass?</h2>
<p>Checks the rows above, saved or not. The remote address is the source of inbound and the destination of
outbound packets. We don’t store it. A server in several groups tries their rules one group after another.</p>
${answer && answerNote(answer, rows, group)}
${checkFields(check, forms)}`;
}

function presetButtons(): Html {
  const buttons = Object.entries(PRESETS).map(
    ([name, { title }]) => html`<button class="plain" name="go" value="preset:${name}">${title}</button> `,
  );
  return html`${buttons}`;
}

function moveFields(): Html {
  return html`<p class="row"><label>Move row <input name="from" size="3" inputmode="numeric"></label>
<label>to position <input name="to" size="3" inputmode="numeric"></label>
<button class="plain" name="go" value="move">Move row</button></p>`;
}

interface EditorRow {
  readonly index: number;
  /** The rule's position among the submitted rules; null for an empty row. */
  readonly position: number | null;
  readonly problems: ReadonlyMap<string, string>;
  readonly buttons: boolean;
  /** It decides about the checked packet. */
  readonly isHit: boolean;
}

function editorRow(row: RuleRow, { index, position, problems, buttons, isHit }: EditorRow): Html {
  const cells = Object.entries(CELL_BY_LETTER).map(([letter, cell]) => {
    const problem = position === null ? undefined : problems.get(`rules.${position}.${cell}`);
    return html`<td>${cellControl(`${letter}${index}`, cell, { value: row[cell], problem })}`;
  });
  return html`<tr${isHit && html` class="hit"`}><th>${index + 1}${cells}${buttons && rowButtons(index)}\n`;
}

/** The column's heading names its controls. Short and without quotes, it keeps rows small. */
function headId(letter: string | undefined): string {
  return `h${letter ?? ''}`;
}

function cellControl(
  name: string,
  cell: Cell,
  { value, problem }: { readonly value: string; readonly problem: string | undefined },
): Html {
  const bad = problem !== undefined && html` aria-invalid="true" aria-describedby="${name}-problem"`;
  const note = problem !== undefined && html`<p class="problem" id="${name}-problem">${problem}</p>`;
  if (isWordCell(cell)) {
    // HTML allows omitting the end tag of an option, and selects the first one by default.
    const options = Object.entries(RULE_WORDS[cell]).map(
      ([code, word], index) => html`<option${index > 0 && code === value && new Html(' selected')}>${word}`,
    );
    return html`<select name="${name}" aria-labelledby=${headId(name[0])}${bad}>${options}</select>${note}`;
  }
  return html`<input name="${name}" aria-labelledby=${headId(name[0])} value="${value}"${bad}>${note}`;
}

function rowButtons(index: number): Html {
  const button = (action: string, title: string, symbol: string) =>
    html`<button class="quiet" name="go" value="${index}:${action}" aria-label="Row ${index + 1}: ${title}"
title="${title}">${symbol}</button> `;
  const moveUp = index > 0 && button('up', 'move up', '↑');
  const moveDown = button('down', 'move down', '↓');
  return html`<td class="actions">${moveUp}${moveDown}${button('remove', 'remove', '×')}`;
}
