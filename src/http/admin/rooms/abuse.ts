/** Reports of abuse, the texts about each kind, and customers by their reports. */
import type { AbuseOffender } from '../../../domain/staff/abuse/counts.ts';
import type { AbuseReport } from '../../../domain/staff/abuse/read.ts';
import type { AbuseTemplateView } from '../../../domain/staff/abuse/templates.ts';
import { CONSOLE_PATHS } from '../../../panel/staff/layout.ts';
import { type Shown, tableOf } from '../../../panel/staff/room.ts';
import { ABUSE_KIND_NAMES } from '../../../spec/staff/abuse.ts';
import { type Room, roomItemPath } from '../room.ts';
import type { RoomAct } from '../room-acts.ts';

const REPORTS = { path: CONSOLE_PATHS.abuse };
const TEMPLATES = { path: CONSOLE_PATHS.abuseTemplates };

const MATCH_WORDS = {
  matched: null,
  nobody: 'nobody had it',
  not_ours: 'not our address',
  not_kept: 'history not kept',
  deleted: 'account deleted',
} as const;

const STATE: Shown<AbuseReport> = {
  name: 'State',
  value: ({ state, overdue }) => (overdue ? `${state}, overdue` : state),
  as: 'state',
  tones: {
    open: 'busy',
    'open, overdue': 'bad',
    forwarded: 'busy',
    'forwarded, overdue': 'bad',
    answered: 'good',
  },
};
const KIND: Shown<AbuseReport> = { name: 'Kind', value: ({ kind }) => ABUSE_KIND_NAMES[kind] };
const ADDRESS: Shown<AbuseReport> = { name: 'Address', value: ({ address }) => address, as: 'code' };
const TIME: Shown<AbuseReport> = { name: 'Happened', value: ({ time }) => time, as: 'time' };
const SERVER: Shown<AbuseReport> = {
  name: 'Server',
  value: ({ server_name: name, server, match }) => name ?? server ?? MATCH_WORDS[match],
  link: ({ server, server_name: name }) =>
    server === null || name === null ? null : `${CONSOLE_PATHS.servers}/${encodeURIComponent(server)}`,
};
const CUSTOMER: Shown<AbuseReport> = { name: 'Customer', value: (row) => row.customer, as: 'customer' };
const DEADLINE: Shown<AbuseReport> = { name: 'Deadline', value: ({ deadline }) => deadline, as: 'time' };

const DETAILS: readonly Shown<AbuseReport>[] = [
  { name: 'Report', value: ({ id }) => id, as: 'code' },
  KIND,
  { name: 'Result', value: ({ result }) => result?.replace('_', ' ') },
  ADDRESS,
  TIME,
  { name: 'Who had it', value: (row) => row.match_text },
  SERVER,
  CUSTOMER,
  {
    name: 'Ticket',
    value: ({ ticket }) => ticket,
    link: ({ ticket }) => ticket && `${CONSOLE_PATHS.tickets}/${encodeURIComponent(ticket)}`,
  },
  DEADLINE,
  {
    name: 'When it passes',
    value: (row) => (row.suspend_when_late ? 'we suspend the server' : 'the report is overdue'),
  },
  { name: 'Reporter', value: ({ reporter }) => reporter },
  { name: 'Received by', value: ({ source }) => (source === 'form' ? 'the public form' : 'staff') },
  { name: 'Recorded', value: (row) => row.created_at, as: 'time' },
  { name: 'Sent to the customer', value: (row) => row.forwarded_at, as: 'time' },
  { name: 'Answered', value: (row) => row.answered_at, as: 'time' },
  { name: 'Server suspended', value: (row) => row.suspended_at, as: 'time' },
  { name: 'Closed', value: (row) => row.closed_at, as: 'time' },
  { name: 'Evidence', value: ({ evidence }) => evidence },
];

const isOpen = ({ state }: AbuseReport) => state !== 'closed';
const hasServer = (row: AbuseReport) => isOpen(row) && row.server !== null && row.server_name !== null;

const ACTS: readonly RoomAct<AbuseReport>[] = [
  {
    operation: 'abuse_reports.forward',
    title: 'Send to the customer',
    button: 'Send report',
    text: 'Opens a ticket with the deadline, and mails it. The customer answers in the ticket.',
    notice: 'report_sent',
    when: ({ proposal }) => proposal !== null,
    values: ({ proposal, suspend_when_late: late }) => ({
      ...{ text: proposal?.text ?? '', deadline: proposal?.deadline ?? '', suspend_when_late: late },
    }),
  },
  {
    operation: 'abuse_reports.match',
    title: 'Find who had the address again',
    button: 'Find server',
    when: ({ state }) => state === 'open',
  },
  {
    operation: 'abuse_reports.suspend',
    title: 'Suspend the server',
    button: 'Suspend server',
    isDangerous: true,
    text: 'Freezes the server: it is powered off, and its customer can only view and delete it.',
    notice: 'server_frozen',
    when: (row) => hasServer(row) && !row.server_frozen,
    values: ({ ticket }) => ({ message: `Abuse report${ticket === null ? '' : ` (${ticket})`}` }),
  },
  {
    operation: 'abuse_reports.block_mail',
    title: 'Block outbound SMTP',
    button: 'Block SMTP',
    notice: 'mail_changed',
    when: (row) => hasServer(row) && row.mail_allowed === true,
  },
  {
    operation: 'abuse_reports.change',
    title: 'Change the report',
    button: 'Save report',
    when: isOpen,
    values: ({ kind, address, time, evidence, reporter, deadline, suspend_when_late: late }) => ({
      ...{ kind, address, time, evidence, reporter, deadline, suspend_when_late: late },
    }),
  },
  {
    operation: 'abuse_reports.remove_file',
    title: 'Remove a file',
    button: 'Remove file',
    isDangerous: true,
    text: 'A file that was shared stays in the ticket.',
    when: (row) => isOpen(row) && row.files.length > 0,
    values: ({ files }) => ({ file: files.length === 1 ? (files[0]?.id ?? '') : '' }),
  },
  {
    operation: 'abuse_reports.close',
    title: 'Close the report',
    button: 'Close report',
    text: 'It cannot be opened again. The ticket stays as it is.',
    when: isOpen,
  },
];

const FILES = tableOf<AbuseReport, AbuseReport['files'][number]>({
  title: 'Files',
  rows: ({ files }) => files,
  empty: 'There are no files.',
  columns: [
    {
      name: 'Name',
      value: ({ name }) => name,
      link: ({ report, id }) => `${roomItemPath(REPORTS, report)}/files/${id}`,
    },
    { name: 'Type', value: ({ type }) => type },
    { name: 'Bytes', value: (row) => row.size_bytes, as: 'number' },
    { name: 'Attached', value: (row) => row.created_at, as: 'time' },
    { name: 'ID', value: ({ id }) => id, as: 'code' },
  ],
});

export const ABUSE_ROOM: Room<AbuseReport> = {
  section: 'abuse',
  ...REPORTS,
  title: 'Abuse reports',
  many: 'reports',
  intro: 'What others report about addresses of our servers.',
  list: 'abuse_reports.list',
  links: [['Customers by reports', CONSOLE_PATHS.abuseOffenders]],
  filters: [
    ['state', 'State'],
    ['overdue', 'Overdue'],
    ['kind', 'Kind'],
    ['customer', 'Customer'],
    ['server', 'Server ID'],
  ],
  columns: [
    { ...KIND, name: 'Report', link: ({ id }) => roomItemPath(REPORTS, id) },
    STATE,
    ADDRESS,
    TIME,
    SERVER,
    CUSTOMER,
    DEADLINE,
  ],
  creates: [
    {
      operation: 'abuse_reports.create',
      title: 'Record a report',
      button: 'Record report',
      text: 'We find the server that had the address at that time. The customer is not told yet.',
    },
  ],
  item: {
    get: 'abuse_reports.get',
    id: ({ id }) => id,
    title: ({ kind, server_name: name }) => `${ABUSE_KIND_NAMES[kind]}${name === null ? '' : `: ${name}`}`,
    state: STATE,
    details: DETAILS,
    tables: [FILES],
    links: ({ id, server, state }) => [
      ...(state === 'closed' ? [] : ([['Attach a file', `${roomItemPath(REPORTS, id)}/attach`]] as const)),
      ...(server === null
        ? []
        : ([['Reports about the server', `${REPORTS.path}?server=${encodeURIComponent(server)}`]] as const)),
      ['Staff log', `${CONSOLE_PATHS.log}?target=${encodeURIComponent(id)}`],
    ],
    acts: ACTS,
  },
};

export const ABUSE_OFFENDERS_ROOM: Room<AbuseOffender> = {
  section: 'abuse',
  path: CONSOLE_PATHS.abuseOffenders,
  title: 'Customers by reports',
  many: 'customers',
  intro: 'Reports of the last 180 days, most first.',
  list: 'abuse_reports.offenders',
  columns: [
    { name: 'Customer', value: ({ customer }) => customer, as: 'customer' },
    {
      name: 'Reports',
      value: ({ recent }) => recent,
      as: 'number',
      link: ({ id }) => `${REPORTS.path}?customer=${encodeURIComponent(id)}`,
    },
    { name: 'Open', value: ({ open }) => open, as: 'number' },
    { name: 'Servers', value: ({ servers }) => servers, as: 'number' },
    { name: 'Latest', value: (row) => row.latest_at, as: 'time' },
  ],
};

export const ABUSE_TEMPLATES_ROOM: Room<AbuseTemplateView> = {
  section: 'abuseTemplates',
  ...TEMPLATES,
  title: 'Texts about abuse',
  many: 'texts',
  intro: 'The message and the deadline that a report begins with when you send it to the customer.',
  list: 'abuse_templates.list',
  columns: [
    { name: 'Kind', value: ({ id }) => ABUSE_KIND_NAMES[id], link: ({ id }) => roomItemPath(TEMPLATES, id) },
    { name: 'Hours to answer', value: (row) => row.deadline_hours, as: 'number' },
    { name: 'Text', value: ({ text }) => text.split('\n')[0] },
    { name: 'Changed', value: (row) => row.updated_at, as: 'time' },
  ],
  item: {
    get: 'abuse_templates.get',
    id: ({ id }) => id,
    title: ({ id }) => ABUSE_KIND_NAMES[id],
    details: [
      { name: 'Hours to answer', value: (row) => row.deadline_hours, as: 'number' },
      { name: 'Text', value: ({ text }) => text },
      { name: 'Changed', value: (row) => row.updated_at, as: 'time' },
    ],
    acts: [
      {
        operation: 'abuse_templates.set',
        title: 'Edit',
        button: 'Save text',
        values: ({ text, deadline_hours: hours }) => ({ text, deadline_hours: hours }),
      },
    ],
  },
};
