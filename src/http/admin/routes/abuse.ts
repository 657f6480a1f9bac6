/** Reports of abuse, and the texts about each kind. No input is logged: it has addresses and names. */
import { Type } from 'typebox';
import {
  blockReportedMail,
  closeAbuseReport,
  suspendReportedServer,
} from '../../../domain/staff/abuse/acts.ts';
import { readOffenders } from '../../../domain/staff/abuse/counts.ts';
import { attachAbuseFile, readAbuseFile, removeAbuseFile } from '../../../domain/staff/abuse/files.ts';
import { forwardAbuseReport } from '../../../domain/staff/abuse/forward.ts';
import { type AbuseQuery, listReportsForStaff, readAbuseReport } from '../../../domain/staff/abuse/read.ts';
import {
  changeAbuseReport,
  createAbuseReport,
  matchAbuseReport,
} from '../../../domain/staff/abuse/record.ts';
import {
  readAbuseTemplate,
  readAbuseTemplates,
  setAbuseTemplate,
} from '../../../domain/staff/abuse/templates.ts';
import { ABUSE_CLOSINGS, ABUSE_KINDS, ABUSE_LIMITS, ABUSE_STATES } from '../../../spec/staff/abuse.ts';
import { fileAnswer, fileBody, fileBodyMaxBytes, readFileBody } from '../files.ts';
import { type AdminRoute, adminRoute } from '../route.ts';
import { CLOSED, given, LIMIT, listOf, pageSize } from './lists.ts';

const TIME_MAX_CHARS = 40;
const ADDRESS_MAX_CHARS = 45;
const NAME = Type.String({ maxLength: 255 });
const KIND = Type.Enum([...ABUSE_KINDS]);
const ADDRESS = Type.String({ maxLength: ADDRESS_MAX_CHARS, description: 'IPv4 or IPv6.' });
const TIME = Type.String({
  maxLength: TIME_MAX_CHARS,
  title: 'Time of the event',
  description: 'Such as 2026-12-01T22:00:00Z. Mind the time zone of the report.',
});
const EVIDENCE = Type.String({
  maxLength: ABUSE_LIMITS.evidenceMaxChars,
  description: 'What the report says, with its log lines. Only staff see it until you share a part of it.',
});
const REPORTER = Type.Optional(
  Type.String({
    ...{ minLength: 0, maxLength: ABUSE_LIMITS.reporterMaxChars },
    description: 'Who sent the report. The customer never sees it.',
  }),
);
const LATE = Type.Optional(
  Type.Boolean({
    title: 'Suspend when the deadline passes without an answer',
    description: 'Freezes the server without asking you again.',
  }),
);
const DEADLINE = { maxLength: TIME_MAX_CHARS, title: 'Deadline' } as const;
const DEADLINE_OF_KIND = Type.Optional(
  Type.String({ ...DEADLINE, description: 'Such as 2026-12-01T22:00:00Z. Default: that of the kind.' }),
);

const QUERY_ROUTES: readonly AdminRoute[] = [
  adminRoute({
    id: 'abuse_reports.list',
    method: 'GET',
    path: '/abuse_reports',
    query: Type.Object(
      {
        state: Type.Optional(Type.Enum([...ABUSE_STATES])),
        kind: Type.Optional(KIND),
        overdue: Type.Optional(Type.Literal('true')),
        customer: Type.Optional(NAME),
        server: Type.Optional(NAME),
        before: Type.Optional(Type.String()),
        limit: LIMIT,
      },
      CLOSED,
    ),
    run: async ({ service, query: { limit, overdue, ...query } }) => {
      const filter = given({ ...query, overdue: overdue && true }) as AbuseQuery;
      const found = await listReportsForStaff(service, { ...filter, limit: pageSize(limit) });
      return listOf(found.reports, found.hasMore);
    },
  }),
  adminRoute({
    id: 'abuse_reports.offenders',
    method: 'GET',
    path: '/abuse_offenders',
    run: async ({ service }) => listOf(await readOffenders(service), false),
  }),
  adminRoute({
    id: 'abuse_reports.get',
    method: 'GET',
    path: '/abuse_reports/{id}',
    run: ({ service, params }) => readAbuseReport(service, params.id),
  }),
];

const FILE_ROUTES: readonly AdminRoute[] = [
  adminRoute({
    id: 'abuse_reports.get_file',
    method: 'GET',
    path: '/abuse_reports/{id}/files/{file}',
    run: async ({ service, params }) =>
      fileAnswer('abuse_file', await readAbuseFile(service, params.id, params.file)),
  }),
  adminRoute({
    id: 'abuse_reports.attach',
    method: 'POST',
    path: '/abuse_reports/{id}/files',
    status: 201,
    bodyMaxBytes: fileBodyMaxBytes(ABUSE_LIMITS.fileMaxBytes),
    body: fileBody(ABUSE_LIMITS.fileMaxBytes),
    unlogged: ['name', 'content_base64'],
    run: ({ service, params, body }) => attachAbuseFile(service, params.id, readFileBody(body)),
  }),
  adminRoute({
    id: 'abuse_reports.remove_file',
    method: 'POST',
    path: '/abuse_reports/{id}/remove_file',
    body: Type.Object(
      { file: Type.String({ maxLength: 40, title: 'File ID', description: 'Such as abf_…' }) },
      CLOSED,
    ),
    run: ({ service, params, body }) => removeAbuseFile(service, params.id, body.file),
  }),
];

const RECORD_ROUTES: readonly AdminRoute[] = [
  adminRoute({
    id: 'abuse_reports.create',
    method: 'POST',
    path: '/abuse_reports',
    status: 201,
    unlogged: ['address', 'evidence', 'reporter'],
    body: Type.Object(
      {
        kind: KIND,
        ...{ address: ADDRESS, time: TIME, evidence: EVIDENCE, reporter: REPORTER },
        ...{ deadline: DEADLINE_OF_KIND, suspend_when_late: LATE },
      },
      CLOSED,
    ),
    run: ({ service, body }) => createAbuseReport(service, body),
  }),
  adminRoute({
    id: 'abuse_reports.change',
    method: 'POST',
    path: '/abuse_reports/{id}/change',
    unlogged: ['address', 'evidence', 'reporter'],
    body: Type.Object(
      {
        kind: Type.Optional(Type.Enum([...ABUSE_KINDS])),
        ...{ address: Type.Optional(ADDRESS), time: Type.Optional(TIME) },
        ...{ evidence: Type.Optional(EVIDENCE), reporter: REPORTER },
        deadline: Type.Optional(Type.String({ ...DEADLINE, description: 'Such as 2026-12-01T22:00:00Z.' })),
        suspend_when_late: LATE,
      },
      CLOSED,
    ),
    run: ({ service, params, body }) => changeAbuseReport(service, params.id, body),
  }),
  adminRoute({
    id: 'abuse_reports.match',
    method: 'POST',
    path: '/abuse_reports/{id}/match',
    run: ({ service, params }) => matchAbuseReport(service, params.id),
  }),
];

const ACT_ROUTES: readonly AdminRoute[] = [
  adminRoute({
    id: 'abuse_reports.forward',
    method: 'POST',
    path: '/abuse_reports/{id}/forward',
    unlogged: ['text', 'evidence'],
    body: Type.Object(
      {
        text: Type.Optional(
          Type.String({
            maxLength: ABUSE_LIMITS.textMaxChars,
            description:
              'The customer reads it in a ticket, and by email. If you change the deadline, change it here.',
          }),
        ),
        evidence: Type.Optional(
          Type.String({
            maxLength: ABUSE_LIMITS.evidenceMaxChars,
            title: 'Evidence to share',
            description: 'The customer gets it as a text file. Remove what names who sent the report.',
          }),
        ),
        share_files: Type.Optional(
          Type.Boolean({
            title: 'Share the files',
            description:
              'The customer gets all files of the report. First remove those that name who sent it.',
          }),
        ),
        ...{ deadline: DEADLINE_OF_KIND, suspend_when_late: LATE },
      },
      CLOSED,
    ),
    run: ({ service, actor, params, body }) => forwardAbuseReport(service, actor.staffId, params.id, body),
  }),
  adminRoute({
    id: 'abuse_reports.suspend',
    method: 'POST',
    path: '/abuse_reports/{id}/suspend',
    body: Type.Object(
      { message: Type.String({ minLength: 1, maxLength: 200, title: 'Message to the customer' }) },
      CLOSED,
    ),
    run: ({ service, params, body }) => suspendReportedServer(service, params.id, body.message),
  }),
  adminRoute({
    id: 'abuse_reports.block_mail',
    method: 'POST',
    path: '/abuse_reports/{id}/block_mail',
    run: ({ service, params }) => blockReportedMail(service, params.id),
  }),
  adminRoute({
    id: 'abuse_reports.close',
    method: 'POST',
    path: '/abuse_reports/{id}/close',
    body: Type.Object({ result: Type.Enum([...ABUSE_CLOSINGS]) }, CLOSED),
    run: ({ service, params, body }) => closeAbuseReport(service, params.id, body.result),
  }),
];

const TEMPLATE_ROUTES: readonly AdminRoute[] = [
  adminRoute({
    id: 'abuse_templates.list',
    method: 'GET',
    path: '/abuse_templates',
    run: async ({ service }) => listOf(await readAbuseTemplates(service), false),
  }),
  adminRoute({
    id: 'abuse_templates.get',
    method: 'GET',
    path: '/abuse_templates/{id}',
    run: ({ service, params }) => readAbuseTemplate(service, params.id),
  }),
  adminRoute({
    id: 'abuse_templates.set',
    method: 'POST',
    path: '/abuse_templates/{id}',
    unlogged: ['text'],
    body: Type.Object(
      {
        text: Type.String({
          ...{ minLength: 1, maxLength: ABUSE_LIMITS.textMaxChars },
          description: 'Replaced when you send it: {server}, {address}, {time}, {deadline}.',
        }),
        deadline_hours: Type.Integer({
          ...{ minimum: 1, maximum: ABUSE_LIMITS.deadlineMaxHours },
          title: 'Hours to answer',
        }),
      },
      CLOSED,
    ),
    run: ({ service, params, body }) => setAbuseTemplate(service, params.id, body),
  }),
];

export const ABUSE_ROUTES: readonly AdminRoute[] = [
  ...QUERY_ROUTES,
  ...FILE_ROUTES,
  ...RECORD_ROUTES,
  ...ACT_ROUTES,
  ...TEMPLATE_ROUTES,
];
