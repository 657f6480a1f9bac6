/** The visitor of a page, and the frame that shows their account. */
import type { FastifyReply, FastifyRequest } from 'fastify';
import {
  announcementsFor,
  type OpenAnnouncements,
  type ShownAnnouncement,
} from '../../domain/customers/talking/shown.ts';
import { findClosure } from '../../domain/rules/rules.ts';
import { computeCsrfToken, newVisitorCookie } from '../../domain/sessions/cookie.ts';
import { type Identity, identify } from '../../domain/sessions/identify.ts';
import { newSecretToken } from '../../kernel/ids.ts';
import { formatCents } from '../../kernel/money.ts';
import type { FormContext } from '../../panel/parts/form.ts';
import { exactUsd } from '../../panel/parts/format.ts';
import { type Frame, renderDocument, type View } from '../../panel/parts/layout.ts';
import { noticeText } from '../../panel/parts/notices.ts';
import { PANEL_QUERY } from '../../spec/paths.ts';
import { TALKING_LIMITS } from '../../spec/staff/talking.ts';
import { readSessionCookie, setSessionCookie } from '../cookie.ts';
import { type Form, field } from '../form.ts';
import type { Edge } from '../settings.ts';
import { assetsOf, brandOf } from './assets.ts';

const ONCE_BYTES = 16;
/** The balance is at the top of every page. */
const BALANCE_EVENTS = ['billing.', 'topup.confirmed', 'topup.reversed'] as const;

/** One request for a page, with its sender. */
export interface Visitor {
  readonly edge: Edge;
  readonly request: FastifyRequest;
  readonly reply: FastifyReply;
  readonly identity: Identity;
  readonly query: Form;
}

/** Identifies the visitor of a request by the session cookie. */
export async function identifyRequest(edge: Edge, request: FastifyRequest): Promise<Identity> {
  return await identify(edge.service, readSessionCookie(request));
}

/**
 * Creates the form context of one rendering. Sets a visitor cookie if the page has a form and there is none.
 */
export function newFormContext({ edge, reply, identity }: Visitor, hasForms: boolean): FormContext {
  const { keys } = edge.service;
  const signedIn = identity.session !== null;
  let csrf = '';
  if (hasForms || signedIn) {
    const visitor = identity.visitor ?? newVisitorCookie(keys);
    if (identity.visitor === null) setSessionCookie(edge.settings, reply, visitor);
    csrf = computeCsrfToken(keys, visitor);
  }
  const submissionKey = newSecretToken(ONCE_BYTES);
  return { csrf, submissionKey, refused: null, values: new Map(), problems: [], failure: null };
}

/** Builds the frame around a view. `view.live` and `view.refreshS` apply unless the URL turns updates off. */
export async function buildFrame(visitor: Visitor, forms: FormContext): Promise<(view: View) => Frame> {
  const { edge, identity } = visitor;
  const rules = await edge.rules.read(identity.session?.rulesVersion);
  const message = findClosure(rules, null, edge.service.clock.now())?.message;
  // Use the time format of the other pages.
  const closed = message?.replace(/(\d{4}-\d\d-\d\d)T(\d\d:\d\d):\d\dZ/, '$1 $2 UTC') ?? null;
  const announcements = await listShown(visitor, rules.announcements);
  const transparency = rules.switches.some(({ name, on_ }) => name === 'transparency' && on_);
  return (view) => buildStaticFrame(visitor, forms, { closed, announcements, view, transparency });
}

async function listShown(
  { edge, identity }: Visitor,
  open: OpenAnnouncements,
): Promise<readonly ShownAnnouncement[]> {
  const found = await announcementsFor(edge.service, open, identity.session?.customerId ?? null);
  return found.filter(({ isDismissed }) => !isDismissed);
}

/** Builds the frame without the database. */
export function buildStaticFrame(
  { edge, identity, query, request }: Visitor,
  forms: FormContext,
  {
    closed = null,
    announcements = [],
    view = {},
    transparency = false,
  }: {
    readonly closed?: string | null;
    readonly announcements?: readonly ShownAnnouncement[];
    readonly view?: Pick<View, 'live' | 'refreshS' | 'valuesEveryS'>;
    /** The report is published. */
    readonly transparency?: boolean;
  } = {},
): Frame {
  const { session } = identity;
  const { live, refreshS, valuesEveryS } = view;
  const path = request.url.split('?')[0] ?? '';
  // The next load would discard the result of a form.
  const isRefreshable = request.method === 'GET' && field(query, PANEL_QUERY.noRefresh) === '';
  const reloadPath = withQuery(path, withoutNotice(query));
  return {
    brand: brandOf(edge.service.settings.siteName, edge.settings.site, { transparency }),
    sandbox: edge.service.settings.mode === 'sandbox',
    account: session && {
      email: session.email,
      balance: exactUsd(formatCents(session.balanceCents)),
      frozen: session.frozen,
      shortcuts: session.shortcuts,
    },
    announcements: {
      shown: announcements.slice(0, TALKING_LIMITS.announcementsShown),
      hasMore: announcements.length > TALKING_LIMITS.announcementsShown,
      back: session && reloadPath,
    },
    closed,
    // A form may be sent to the URL that its page had after an earlier change.
    notice: request.method === 'GET' ? noticeText(field(query, PANEL_QUERY.notice)) : null,
    forms,
    assets: assetsOf(edge.settings.site),
    live:
      live && session && isRefreshable
        ? {
            ...{ url: reloadPath, seq: String(session.lastEventSeq), valuesEveryS },
            about: [...live, ...BALANCE_EVENTS],
          }
        : null,
    autoRefresh:
      refreshS !== undefined && isRefreshable
        ? {
            path: withQuery(path, [...withoutNotice(query), [PANEL_QUERY.noRefresh, '1']]),
            intervalS: refreshS,
            reloadPath,
          }
        : null,
  };
}

/** Returns the query without the notice, which is shown only once. */
function withoutNotice(query: Form): [string, string][] {
  return [...query].filter(([name]) => name !== PANEL_QUERY.notice);
}

function withQuery(path: string, members: [string, string][]): string {
  const query = new URLSearchParams(members).toString();
  return query === '' ? path : `${path}?${query}`;
}

/** They block all content from other sites. */
export const PAGE_HEADERS = {
  'content-type': 'text/html; charset=utf-8',
  'content-security-policy': [
    `default-src 'none'`,
    `style-src 'self'`,
    `script-src 'self'`,
    `img-src 'self'`,
    `connect-src 'self'`,
    `form-action 'self'`,
    `base-uri 'none'`,
    `frame-ancestors 'none'`,
  ].join('; '),
  // Not no-referrer: with it browsers send `Origin: null` for our own forms.
  'referrer-policy': 'same-origin',
  'x-frame-options': 'DENY',
  'cross-origin-opener-policy': 'same-origin',
  'cross-origin-resource-policy': 'same-origin',
  'permissions-policy': 'camera=(), geolocation=(), microphone=()',
  'cache-control': 'no-store',
};

export function sendPage(reply: FastifyReply, view: View, frame: Frame): FastifyReply {
  return reply
    .code(view.status ?? 200)
    .headers(PAGE_HEADERS)
    .send(renderDocument(view, frame));
}
