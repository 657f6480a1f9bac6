/** Announcements on the panel of customers. */
import { Type } from 'typebox';
import {
  changeAnnouncement,
  createAnnouncement,
  endAnnouncement,
  listAnnouncements,
  readAnnouncement,
} from '../../../domain/customers/talking/announcements.ts';
import { invalidRequest } from '../../../kernel/fail.ts';
import { parseRfc3339 } from '../../../kernel/time.ts';
import { ANNOUNCEMENT_LEVELS, AUDIENCES, TALKING_LIMITS } from '../../../spec/staff/talking.ts';
import { type AdminRoute, adminRoute } from '../route.ts';
import { CLOSED, LIMIT, listOf, pageSize } from './lists.ts';

const TITLE = Type.String({ minLength: 1, maxLength: TALKING_LIMITS.titleMaxChars });
const TEXT = Type.String({
  ...{ minLength: 1, maxLength: TALKING_LIMITS.announcementMaxChars },
  description: 'Plain text. Each line is a paragraph.',
});
/** Empty removes it. */
const LINK = Type.Optional(
  Type.String({
    ...{ minLength: 0, maxLength: TALKING_LIMITS.linkMaxChars },
    description: 'A page of the panel such as /status, or an address on the web.',
  }),
);
const REGION = Type.Optional(
  Type.String({
    ...{ minLength: 0, maxLength: 40 },
    description: 'Only customers with a server there see it. Empty: all.',
  }),
);
const level = Type.Enum([...ANNOUNCEMENT_LEVELS], { default: 'info' });
const audience = Type.Enum([...AUDIENCES], {
  default: 'customers',
  title: 'Shown to',
  description: 'Everyone includes visitors who are not signed in.',
});
const time = (title: string, description = '') =>
  Type.String({
    ...{ format: 'date-time', maxLength: 40, title },
    description: `In RFC 3339, such as 2026-12-01T22:00:00Z.${description}`,
  });
const FROM = Type.Optional(time('From (UTC)', ' Empty: now.'));

function readTime(field: string, text: string): Date {
  return parseRfc3339(text) ?? invalidRequest([{ field, issue: 'invalid_format', format: 'date-time' }]);
}

/** Undefined: it stays, or is the default. */
function readPeriod({ from, until }: { readonly from?: string; readonly until?: string }) {
  return {
    from: from === undefined ? undefined : readTime('from', from),
    until: until === undefined ? undefined : readTime('until', until),
  };
}

export const ANNOUNCEMENT_ROUTES: readonly AdminRoute[] = [
  adminRoute({
    id: 'announcements.list',
    method: 'GET',
    path: '/announcements',
    query: Type.Object({ before: Type.Optional(Type.String()), limit: LIMIT }, CLOSED),
    run: async ({ service, query: { before, limit } }) => {
      const asked = { ...(before !== undefined && { before }), limit: pageSize(limit) };
      const { announcements, hasMore } = await listAnnouncements(service, asked);
      return listOf(announcements, hasMore);
    },
  }),
  adminRoute({
    id: 'announcements.get',
    method: 'GET',
    path: '/announcements/{id}',
    run: ({ service, params }) => readAnnouncement(service, params.id),
  }),
  adminRoute({
    id: 'announcements.create',
    method: 'POST',
    path: '/announcements',
    status: 201,
    body: Type.Object(
      {
        ...{ title: TITLE, text: TEXT, level: Type.Optional(level), link: LINK, region: REGION },
        ...{ audience: Type.Optional(audience), from: FROM, until: time('Until (UTC)') },
      },
      CLOSED,
    ),
    unlogged: ['text'],
    run: async ({ service, body: { level: tone = 'info', audience: shownTo = 'customers', ...order } }) => {
      const { from } = readPeriod(order);
      const until = readTime('until', order.until);
      return await createAnnouncement(service, { ...order, level: tone, audience: shownTo, from, until });
    },
  }),
  adminRoute({
    id: 'announcements.change',
    method: 'POST',
    path: '/announcements/{id}/change',
    body: Type.Object(
      {
        ...{ title: Type.Optional(TITLE), text: Type.Optional(TEXT), level: Type.Optional(level) },
        ...{ link: LINK, region: REGION, audience: Type.Optional(audience), from: FROM },
        until: Type.Optional(time('Until (UTC)')),
      },
      CLOSED,
    ),
    unlogged: ['text'],
    run: async ({ service, params, body }) =>
      await changeAnnouncement(service, params.id, { ...body, ...readPeriod(body) }),
  }),
  adminRoute({
    id: 'announcements.end',
    method: 'POST',
    path: '/announcements/{id}/end',
    run: ({ service, params }) => endAnnouncement(service, params.id),
  }),
];
