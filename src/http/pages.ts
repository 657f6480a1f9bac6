/** The panel's pages over HTTP, with headers that let nothing in but what they hold. */
import { createHash } from 'node:crypto';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { homePage } from '../panel/home.ts';
import { STYLE } from '../panel/layout.ts';
import { notFoundPage, PLACES, placePage, serverPage } from '../panel/places.ts';
import { PANEL_PATHS } from '../spec/paths.ts';
import type { Edge } from './settings.ts';

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

export function registerPages(scope: FastifyInstance, edge: Edge): void {
  const sandbox = edge.service.settings.mode === 'sandbox';
  scope.get(PANEL_PATHS.home, (request, reply) => {
    sendPage(reply, homePage({ baseUrl: baseUrlOf(edge, request), sandbox }));
  });
  for (const place of PLACES) scope.get(place.path, (_request, reply) => sendPage(reply, placePage(place)));
  scope.get<{ Params: { no: string } }>(`${PANEL_PATHS.servers}/:no(^[1-9]\\d{0,15}$)`, (request, reply) => {
    sendPage(reply, serverPage(request.params.no));
  });
}

/** Answers a browser that came to no page of ours. */
export function sendNotFoundPage(reply: FastifyReply): void {
  reply.code(404);
  sendPage(reply, notFoundPage());
}

function sendPage(reply: FastifyReply, page: string): void {
  reply.headers(HEADERS).send(page);
}

function baseUrlOf(edge: Edge, request: FastifyRequest): string {
  return edge.settings.baseUrl?.replace(/\/+$/, '') ?? `http://${request.host}`;
}
