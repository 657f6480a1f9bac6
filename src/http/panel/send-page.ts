/** Sends a page with headers that block all content from other sites. */
import type { FastifyReply } from 'fastify';
import { type Frame, renderDocument, type View } from '../../panel/parts/layout.ts';

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
  // A header instead of a tag: the link that pauses updates returns the page without it.
  if (frame.autoRefresh)
    reply.header('refresh', `${frame.autoRefresh.intervalS}; url=${frame.autoRefresh.reloadPath}`);
  return reply
    .code(view.status ?? 200)
    .headers(PAGE_HEADERS)
    .send(renderDocument(view, frame));
}
