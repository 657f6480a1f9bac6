/** Answers "Would this packet pass?" about the rules in the editor. */

import type { Service } from '../../../domain/context.ts';
import { compileFilter } from '../../../domain/firewall/apply.ts';
import { checkRules } from '../../../domain/firewall/check.ts';
import { type TracedPacket, tracePacket } from '../../../domain/firewall/trace.ts';
import { addressFamily } from '../../../kernel/cidr.ts';
import { Failure, InvalidRequest } from '../../../kernel/fail.ts';
import type { FieldProblem } from '../../../panel/parts/form.ts';
import { describeProblem, FAILURE_TEXTS } from '../../../panel/parts/problem-text.ts';
import { PACKET_FIELDS, PACKET_PROTOS, type PacketCheck } from '../../../panel/resources/firewall-check.ts';
import { type FirewallGroup, type FirewallRuleBody, PORT_PROTOS } from '../../../spec/schemas/firewall.ts';
import { type Form, field } from '../../form.ts';

/** The buttons that check: Enter does so only if there is an address. */
const CHECK = 'check';
const ENTER = 'enter';
const PORT = /^[1-9]\d{0,4}$/;
const PORT_MAX = 65_535;

interface Checked {
  readonly check: PacketCheck;
  /** Of the rules, which must be valid before they can be applied to a packet. */
  readonly ruleProblems: readonly FieldProblem[];
}

export function checkPacket(
  service: Service,
  { default_action }: Pick<FirewallGroup, 'default_action'>,
  bodies: readonly FirewallRuleBody[],
  sent: Form,
): Checked {
  const button = field(sent, 'go');
  const isWanted = button === CHECK || (button === ENTER && field(sent, PACKET_FIELDS.address).trim() !== '');
  const unanswered = { values: sent, problems: [], answer: null };
  if (!isWanted) return { check: unanswered, ruleProblems: [] };
  const packet = readPacket(sent);
  if ('problems' in packet) return { check: { ...unanswered, ...packet }, ruleProblems: [] };
  try {
    const filter = compileFilter([{ default_action, rules: checkRules(service, bodies) }]);
    if (!filter) throw new Error('a group always has a filter');
    const answer = { direction: packet.direction, ...tracePacket(filter, packet) };
    return { check: { ...unanswered, answer }, ruleProblems: [] };
  } catch (error) {
    if (!(error instanceof Failure)) throw error;
    const message = 'Fix the errors in the rows above first.';
    const problems = [{ field: PACKET_FIELDS.address, message }];
    const ruleProblems =
      error instanceof InvalidRequest
        ? error.items.map((item) => ({ field: item.field, message: describeProblem(item) }))
        : [{ field: 'rules', message: FAILURE_TEXTS[error.code] ?? error.message }];
    return { check: { ...unanswered, problems }, ruleProblems };
  }
}

function readPacket(sent: Form): TracedPacket | { readonly problems: readonly FieldProblem[] } {
  const typed = (name: keyof typeof PACKET_FIELDS) => field(sent, PACKET_FIELDS[name]).trim();
  const proto = typed('proto');
  const direction = typed('direction') === 'out' ? 'out' : 'in';
  const remote = typed('address');
  const hasPort = PORT_PROTOS.some((each) => each === proto);
  const problems: FieldProblem[] = [];
  const isKnown = Object.hasOwn(PACKET_PROTOS, proto);
  if (!isKnown) problems.push({ field: PACKET_FIELDS.proto, message: 'Choose a protocol.' });
  if (addressFamily(remote) === undefined)
    problems.push({ field: PACKET_FIELDS.address, message: 'Enter an IP address, such as 203.0.113.7.' });
  if (hasPort && !(PORT.test(typed('port')) && Number(typed('port')) <= PORT_MAX))
    problems.push({ field: PACKET_FIELDS.port, message: 'Enter a port from 1 to 65,535.' });
  if (problems.length > 0) return { problems };
  const port = hasPort ? Number(typed('port')) : null;
  return { direction, proto: proto as TracedPacket['proto'], port, remote };
}
