/** The panel's pages over HTTP. */
import type { FastifyInstance } from 'fastify';
import { PLACES, placePage } from '../panel/places.ts';
import { registerBillingPages } from './billing-pages.ts';
import { sendPage } from './send-page.ts';
import type { Edge } from './settings.ts';

export function registerPages(scope: FastifyInstance, edge: Edge): void {
  for (const place of PLACES) scope.get(place.path, (_request, reply) => sendPage(reply, placePage(place)));
  registerBillingPages(scope, edge);
}
