/** Sends a page with headers that let nothing in but what it holds. */
import { createHash } from 'node:crypto';
import type { FastifyReply } from 'fastify';
import { STYLE } from '../panel/bare-layout.ts';
import { notFoundPage } from '../panel/places.ts';

const styleHash = createHash('sha256').update(STYLE).digest('base64');

const HEADERS = {
  'content-type': 'text/html; charset=utf-8',
  'content-security-policy': [
    `default-src 'none'`,
    `style-src 'sha256-${styleHash}'`,
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

/** Answers a browser that came to no page of ours. */
export function sendNotFoundPage(reply: FastifyReply): FastifyReply {
  return sendPage(reply.code(404), notFoundPage());
}

export function sendPage(reply: FastifyReply, page: string): FastifyReply {
  return reply.headers(HEADERS).send(page);
}
