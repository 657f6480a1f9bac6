/** Reports of abuse: kinds, states, results, limits, and what we write about each kind. */
import { act, manage, read } from './roles.ts';

export const ABUSE_KINDS = [
  'spam',
  'port_scan',
  'brute_force',
  'ddos',
  'malware',
  'copyright',
  'other',
] as const;
export type AbuseKind = (typeof ABUSE_KINDS)[number];

export const ABUSE_KIND_NAMES: Readonly<Record<AbuseKind, string>> = {
  spam: 'Spam',
  port_scan: 'Port scan',
  brute_force: 'Guessing of passwords',
  ddos: 'Denial of service',
  malware: 'Malware or phishing',
  copyright: 'Copyright',
  other: 'Other',
};

/** `open`: staff act next. `forwarded`: the customer answers next. `answered`: staff decide. */
export const ABUSE_STATES = ['open', 'forwarded', 'answered', 'closed'] as const;
export type AbuseState = (typeof ABUSE_STATES)[number];

/** Results that staff close a report with. The service closes with `account_deleted`. */
export const ABUSE_CLOSINGS = ['fixed', 'suspended', 'unfounded', 'no_answer'] as const;
export type AbuseClosing = (typeof ABUSE_CLOSINGS)[number];
export type AbuseResult = AbuseClosing | 'account_deleted';

/** Who had the address at that time. `not_kept`: the time is before the history of addresses. */
export const ABUSE_MATCHES = {
  matched: 'A server had the address.',
  nobody: 'No server had the address at that time, as far as the history of addresses reaches.',
  not_ours: 'The address is not in the pool.',
  not_kept: 'The history of addresses does not reach back to that time.',
  deleted: 'The account that had the address was deleted.',
} as const;
export type AbuseMatch = keyof typeof ABUSE_MATCHES;

export const ABUSE_LIMITS = {
  evidenceMaxChars: 16_000,
  reporterMaxChars: 255,
  textMaxChars: 4_000,
  deadlineMaxHours: 2_160,
  /** Closed reports, and their reporters. */
  retentionDays: 365,
  reporterDays: 90,
  /** The period of the counts of a customer and of a server. */
  countedDays: 180,
  offendersShown: 100,
  /** Of one report. */
  filesMax: 10,
  fileMaxBytes: 5 * 1024 ** 2,
  filesMaxBytes: 20 * 1024 ** 2,
  fileNameMaxChars: 100,
  /** From the public form: of one report, and open reports at a time. */
  formTextMaxChars: 8_000,
  formOpenMax: 1_000,
} as const;

/** In the order in which they are recognized: a saved mail is also text. */
export const ABUSE_FILE_TYPES = [
  'application/pdf',
  'image/png',
  'image/jpeg',
  'application/vnd.tcpdump.pcap',
  'message/rfc822',
  'text/plain',
] as const;
export type AbuseFileType = (typeof ABUSE_FILE_TYPES)[number];

export interface AbuseTemplate {
  readonly deadlineHours: number;
  /** With the placeholders `{server}`, `{address}`, `{time}`, and `{deadline}`. */
  readonly text: string;
}

const END =
  'Find the cause, stop it, and tell us in this ticket what you did, by {deadline}. Without an answer, we ' +
  'may suspend the server. If you think that the report is wrong, tell us why.';

function template(deadlineHours: number, text: string): AbuseTemplate {
  return { deadlineHours, text: `${text}\n\n${END}` };
}

const SENT = 'We received a report that your server {server} ({address})';

/** Proposed by the service; staff can change them. */
export const ABUSE_TEMPLATES: Readonly<Record<AbuseKind, AbuseTemplate>> = {
  spam: template(24, `${SENT} sent spam at {time}.`),
  port_scan: template(24, `${SENT} scanned the ports of other systems at {time}.`),
  brute_force: template(24, `${SENT} tried to guess passwords of other systems at {time}.`),
  ddos: template(12, `${SENT} took part in an attack that overloads other systems at {time}.`),
  malware: template(24, `${SENT} offered malware or a phishing page at {time}.`),
  copyright: template(72, `${SENT} offered copyrighted works without permission at {time}.`),
  other: template(48, `${SENT} was used for abuse at {time}.`),
};

const READERS = ['owner', 'support', 'technician'] as const;
const ACTORS = ['owner', 'support'] as const;

export const ABUSE_OPERATIONS = {
  'abuse_reports.list': read('abuse list', 'List reports of abuse', READERS),
  'abuse_reports.get': read('abuse show', 'Show a report of abuse', READERS),
  'abuse_reports.offenders': read('abuse offenders', 'List customers by their reports of abuse', READERS),
  'abuse_reports.get_file': read('abuse file', 'Download a file of a report of abuse', READERS),
  'abuse_reports.create': manage('abuse create', 'Record a report of abuse', ACTORS),
  'abuse_reports.change': manage('abuse change', 'Change a report of abuse', ACTORS),
  'abuse_reports.match': manage('abuse match', 'Find who had the address of a report', ACTORS),
  'abuse_reports.attach': manage('abuse attach', 'Attach a file to a report of abuse', ACTORS),
  'abuse_reports.remove_file': manage('abuse remove-file', 'Remove a file of a report of abuse', ACTORS),
  'abuse_reports.forward': manage('abuse forward', 'Send a report to the customer in a ticket', ACTORS),
  'abuse_reports.suspend': act('abuse suspend', 'Freeze the server of a report', ACTORS),
  'abuse_reports.block_mail': act(
    'abuse block-mail',
    'Block outbound SMTP of the server of a report',
    ACTORS,
  ),
  'abuse_reports.close': manage('abuse close', 'Close a report of abuse', ACTORS),
  'abuse_templates.list': read('abuse-templates list', 'List the texts about abuse', READERS),
  'abuse_templates.get': read('abuse-templates show', 'Show the text about a kind of abuse', READERS),
  'abuse_templates.set': manage('abuse-templates set', 'Change the text about a kind of abuse', ACTORS),
} as const;
