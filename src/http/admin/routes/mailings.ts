/** Mailings to sets of customers. A preview is a POST, because no URL has the text. */
import { Type } from 'typebox';
import {
  checkMailing,
  createMailing,
  listMailings,
  pauseMailing,
  previewMailing,
  readMailing,
  resumeMailing,
  stopMailing,
} from '../../../domain/customers/talking/mailings.ts';
import { MAILING_KINDS, TALKING_LIMITS } from '../../../spec/staff/talking.ts';
import { type AdminRoute, adminRoute } from '../route.ts';
import { CLOSED, LIMIT, listOf, pageSize } from './lists.ts';

const yesNo = (title: string) =>
  Type.Optional(Type.Enum(['yes', 'no'], { title, description: 'Empty: both.' }));
const word = (title: string, description?: string) =>
  Type.Optional(Type.String({ maxLength: 63, title, ...(description !== undefined && { description }) }));

const MAILING = Type.Object(
  {
    kind: Type.Enum([...MAILING_KINDS], {
      description: 'A service notice goes to everyone in the set, news only to those who want it.',
    }),
    subject: Type.String({ minLength: 1, maxLength: TALKING_LIMITS.subjectMaxChars }),
    text: Type.String({
      ...{ minLength: 1, maxLength: TALKING_LIMITS.mailingMaxChars },
      description: 'Plain text. An empty line begins a paragraph.',
    }),
    servers: yesNo('Has servers'),
    region: word('Has a server in the region'),
    host: word('Has a server on the host'),
    plan: word('Has a server of the plan'),
    tag: word('Has the tag'),
    balance_below_usd: word('Balance below, in US dollars', 'Such as 5 or -2.50.'),
    balance_above_usd: word('Balance above, in US dollars'),
    frozen: yesNo('Is frozen'),
    confirmed: yesNo('Has a confirmed email address'),
  },
  CLOSED,
);

export const MAILING_ROUTES: readonly AdminRoute[] = [
  adminRoute({
    id: 'mailings.list',
    method: 'GET',
    path: '/mailings',
    query: Type.Object({ before: Type.Optional(Type.String()), limit: LIMIT }, CLOSED),
    run: async ({ service, query: { before, limit } }) => {
      const asked = { ...(before !== undefined && { before }), limit: pageSize(limit) };
      const { mailings, hasMore } = await listMailings(service, asked);
      return listOf(mailings, hasMore);
    },
  }),
  adminRoute({
    id: 'mailings.get',
    method: 'GET',
    path: '/mailings/{id}',
    run: ({ service, params }) => readMailing(service, params.id),
  }),
  adminRoute({
    id: 'mailings.preview',
    method: 'POST',
    path: '/mailings/preview',
    body: MAILING,
    run: ({ service, body }) => previewMailing(service, body),
  }),
  adminRoute({
    id: 'mailings.create',
    method: 'POST',
    path: '/mailings',
    status: 201,
    body: MAILING,
    checkHeld: ({ body }) => void checkMailing(body),
    unlogged: ['text'],
    run: ({ service, body }) => createMailing(service, body),
  }),
  adminRoute({
    id: 'mailings.pause',
    method: 'POST',
    path: '/mailings/{id}/pause',
    run: ({ service, params }) => pauseMailing(service, params.id),
  }),
  adminRoute({
    id: 'mailings.resume',
    method: 'POST',
    path: '/mailings/{id}/resume',
    run: ({ service, params }) => resumeMailing(service, params.id),
  }),
  adminRoute({
    id: 'mailings.stop',
    method: 'POST',
    path: '/mailings/{id}/stop',
    run: ({ service, params }) => stopMailing(service, params.id),
  }),
];
