/** "Would this packet pass?": the fields, which are part of the rule editor's form, and the answer. */
import type { FirewallGroup } from '../../spec/schemas/firewall.ts';
import { type FieldProblem, Fields, type FormContext } from '../parts/form.ts';
import { type Html, html } from '../parts/html.ts';
import { isEmptyRow, RULE_WORDS, type RuleRow } from './firewall-rows.ts';

export const PACKET_PROTOS = { tcp: 'TCP', udp: 'UDP', icmp: 'ICMP', other: 'Other' } as const;

/** The fields of the packet. They are sent in a form's body, so that no address reaches a log. */
export const PACKET_FIELDS = {
  direction: 'packet_direction',
  proto: 'packet_proto',
  address: 'packet_address',
  port: 'packet_port',
} as const;

/** The result of a check. */
export interface PacketAnswer {
  readonly direction: 'in' | 'out';
  readonly verdict: 'accept' | 'drop' | 'reject';
  /** The index among the rows that are rules; null if the default decides. */
  readonly rule: number | null;
}

export interface PacketCheck {
  readonly values: ReadonlyMap<string, string>;
  readonly problems: readonly FieldProblem[];
  readonly answer: PacketAnswer | null;
}

const VERDICTS = {
  accept: 'Yes, it passes.',
  drop: 'No, it is dropped.',
  reject: 'No, it is rejected, and the sender is notified.',
} as const;

export function checkFields(check: PacketCheck, forms: FormContext): Html {
  const { values, problems } = check;
  const fields = new Fields({ ...forms, refused: { name: 'check', key: '' }, values, problems }, 'check');
  return html`<div class="row">${fields.select(PACKET_FIELDS.direction, 'Direction', {
    choices: Object.entries(RULE_WORDS.direction),
  })}
${fields.select(PACKET_FIELDS.proto, 'Protocol', { choices: Object.entries(PACKET_PROTOS) })}
${fields.text(PACKET_FIELDS.address, 'Remote IP address', { autocomplete: 'off', size: 24 })}
${fields.text(PACKET_FIELDS.port, 'Destination port', { autocomplete: 'off', inputmode: 'numeric', size: 6 })}
<button class="plain" name="go" value="check" formaction="#check">Check packet</button></div>`;
}

/** Says which rule decides, and what that means. */
export function answerNote(
  { direction, verdict, rule }: PacketAnswer,
  rows: readonly RuleRow[],
  group: FirewallGroup,
): Html {
  const reason = () => {
    if (rule !== null) return `Row ${rowOfRule(rows, rule) + 1} is the first match.`;
    if (direction === 'out' && !rows.some((row) => !isEmptyRow(row) && row.direction === 'out'))
      return 'There are no outbound rules, so all outbound traffic passes.';
    return `No row matches, so the default policy applies: ${RULE_WORDS.action[group.default_action]}.`;
  };
  const tone = verdict === 'accept' ? 'done' : 'fault';
  return html`<p class="banner ${tone}" role="status"><strong>${VERDICTS[verdict]}</strong> ${reason()}</p>`;
}

/** Returns the index of the row of a rule. Empty rows are not rules. */
export function rowOfRule(rows: readonly RuleRow[], rule: number): number {
  const indexes = rows.flatMap((row, index) => (isEmptyRow(row) ? [] : [index]));
  return indexes[rule] ?? rule;
}
