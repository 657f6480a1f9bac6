/** The panel's pages over HTTP. */
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { homePage } from '../panel/home.ts';
import { PLACES, placePage } from '../panel/places.ts';
import { PANEL_PATHS } from '../spec/paths.ts';
import { registerBillingPages } from './billing-pages.ts';
import { sendPage } from './send-page.ts';
import type { Edge } from './settings.ts';

export function registerPages(scope: FastifyInstance, edge: Edge): void {
  const sandbox = edge.service.settings.mode === 'sandbox';
  scope.get(PANEL_PATHS.home, (request, reply) => {
    sendPage(reply, homePage({ baseUrl: baseUrlOf(edge, request), sandbox }));
  });
  for (const place of PLACES) scope.get(place.path, (_request, reply) => sendPage(reply, placePage(place)));
  registerBillingPages(scope, edge);
}

function baseUrlOf(edge: Edge, request: FastifyRequest): string {
  return edge.settings.baseUrl?.replace(/\/+$/, '') ?? `http://${request.host}`;
}
