/** Legal orders with their documents, and the transparency report. Only an owner reads them. */
import { Type } from 'typebox';
import { attachLegalDocument, readLegalDocument } from '../../../domain/staff/legal/documents.ts';
import { requireOrderId } from '../../../domain/staff/legal/fields.ts';
import {
  changeLegalOrder,
  closeLegalOrder,
  createLegalOrder,
  setLegalSubject,
} from '../../../domain/staff/legal/orders.ts';
import { listLegalOrders, readLegalOrder } from '../../../domain/staff/legal/read.ts';
import { readReport } from '../../../domain/staff/legal/report.ts';
import { oneOf } from '../../../spec/schemas/parts.ts';
import { LEGAL_LIMITS, LEGAL_ORDER_KINDS, LEGAL_RESULTS, LEGAL_STATES } from '../../../spec/staff/legal.ts';
import { fileAnswer, fileBody, fileBodyMaxBytes, readFileBody } from '../files.ts';
import { type AdminRoute, adminRoute } from '../route.ts';
import { CLOSED, given, LIMIT, listOf, pageSize } from './lists.ts';

const LINE = { maxLength: LEGAL_LIMITS.lineMaxChars } as const;
const DAY = 'A day such as 2026-12-01, or a time such as 2026-12-01T22:00:00Z.';
const AUTHORITY = Type.String({ ...LINE, description: 'Who issued the order.' });
const REFERENCE = Type.String({ ...LINE, description: 'As the authority calls the order.' });
const RECEIVED = Type.Optional(
  Type.String({ maxLength: 40, title: 'Received (UTC)', description: `${DAY} Empty: now.` }),
);

const limitField = (title: string, about: string) =>
  Type.Optional(Type.String({ minLength: 0, maxLength: 40, title, description: `${about} Empty: none.` }));

const DATES = {
  received: RECEIVED,
  due: limitField('Due (UTC)', DAY),
  gag_until: limitField('Do not tell the customer until (UTC)', DAY),
};

const SUBJECT = {
  customer: Type.Optional(
    Type.String({ maxLength: 255, description: 'An email address or cus_…, if the order names one.' }),
  ),
  server: Type.Optional(Type.String({ ...LINE, description: 'srv_… or a current address.' })),
  address: Type.Optional(
    Type.String({ ...LINE, title: 'IP address', description: 'We look up who had it then.' }),
  ),
  at: Type.Optional(
    Type.String({ maxLength: 40, title: 'When the address was used (UTC)', description: DAY }),
  ),
};

const NOTE = { maxLength: LEGAL_LIMITS.noteMaxChars, title: 'Note' } as const;

/** The staff log has none of these. */
const SECRET = ['kind', 'authority', 'reference', 'received', 'due', 'gag_until', 'note'] as const;
const SECRET_SUBJECT = ['customer', 'server', 'address', 'at'] as const;

const READS: readonly AdminRoute[] = [
  adminRoute({
    id: 'legal_orders.list',
    method: 'GET',
    path: '/legal-orders',
    query: Type.Object(
      {
        state: Type.Optional(oneOf(LEGAL_STATES)),
        kind: Type.Optional(oneOf(LEGAL_ORDER_KINDS)),
        customer: Type.Optional(Type.String({ maxLength: 255 })),
        before: Type.Optional(Type.String()),
        limit: LIMIT,
      },
      CLOSED,
    ),
    run: async ({ service, query: { limit, ...query } }) => {
      const found = await listLegalOrders(service, { ...given(query), limit: pageSize(limit) });
      return listOf(found.orders, found.hasMore);
    },
  }),
  adminRoute({
    id: 'legal_orders.get',
    method: 'GET',
    path: '/legal-orders/{id}',
    run: ({ service, params }) => readLegalOrder(service, requireOrderId(params.id)),
  }),
  adminRoute({
    id: 'legal_orders.get_document',
    method: 'GET',
    path: '/legal-orders/{id}/documents/{document}',
    run: async ({ service, params }) =>
      fileAnswer('legal_document', await readLegalDocument(service, params.id, params.document)),
  }),
  adminRoute({
    id: 'transparency.get',
    method: 'GET',
    path: '/transparency',
    run: ({ service }) => readReport(service),
  }),
];

export const LEGAL_ROUTES: readonly AdminRoute[] = [
  ...READS,
  adminRoute({
    id: 'legal_orders.create',
    method: 'POST',
    path: '/legal-orders',
    status: 201,
    body: Type.Object(
      {
        kind: oneOf(LEGAL_ORDER_KINDS),
        ...{ authority: AUTHORITY, reference: REFERENCE },
        ...DATES,
        ...SUBJECT,
        note: Type.Optional(Type.String(NOTE)),
      },
      CLOSED,
    ),
    unlogged: [...SECRET, ...SECRET_SUBJECT],
    run: ({ service, body }) => createLegalOrder(service, body),
  }),
  adminRoute({
    id: 'legal_orders.change',
    method: 'POST',
    path: '/legal-orders/{id}/change',
    body: Type.Object(
      {
        kind: Type.Optional(oneOf(LEGAL_ORDER_KINDS)),
        ...{ authority: Type.Optional(AUTHORITY), reference: Type.Optional(REFERENCE) },
        ...DATES,
        note: Type.Optional(Type.String({ ...NOTE, minLength: 0 })),
      },
      CLOSED,
    ),
    unlogged: SECRET,
    run: ({ service, params, body }) => changeLegalOrder(service, params.id, body),
  }),
  adminRoute({
    id: 'legal_orders.set_subject',
    method: 'POST',
    path: '/legal-orders/{id}/subject',
    body: Type.Object(
      {
        ...SUBJECT,
        remove: Type.Optional(
          Type.Boolean({ title: 'Remove the subject', description: 'The order then names no one.' }),
        ),
        why: Type.String({
          ...LINE,
          title: 'Reason',
          description: 'We add it to the note of the order. The staff log does not have it.',
        }),
      },
      CLOSED,
    ),
    unlogged: [...SECRET_SUBJECT, 'remove', 'why'],
    run: ({ service, params, body }) => setLegalSubject(service, params.id, body),
  }),
  adminRoute({
    id: 'legal_orders.attach',
    method: 'POST',
    path: '/legal-orders/{id}/documents',
    status: 201,
    bodyMaxBytes: fileBodyMaxBytes(LEGAL_LIMITS.documentMaxBytes),
    body: fileBody(LEGAL_LIMITS.documentMaxBytes),
    unlogged: ['name', 'content_base64'],
    run: ({ service, params, body }) => attachLegalDocument(service, params.id, readFileBody(body)),
  }),
  adminRoute({
    id: 'legal_orders.close',
    method: 'POST',
    path: '/legal-orders/{id}/close',
    body: Type.Object(
      {
        result: oneOf(LEGAL_RESULTS),
        data_handed_out: Type.Optional(
          Type.Boolean({ title: 'We gave data of a customer to the authority' }),
        ),
        note: Type.String({ ...NOTE, description: 'What was done, or why not.' }),
      },
      CLOSED,
    ),
    unlogged: ['note', 'result', 'data_handed_out'],
    run: ({ service, params, body: { data_handed_out = false, ...end } }) =>
      closeLegalOrder(service, params.id, { ...end, data_handed_out }),
  }),
];
