/** The panel's pages over HTTP. */
import type { FastifyInstance } from 'fastify';
import { PLACES, placePage } from '../panel/places.ts';
import { sendPage } from './send-page.ts';

export function registerPages(scope: FastifyInstance): void {
  for (const place of PLACES) scope.get(place.path, (_request, reply) => sendPage(reply, placePage(place)));
}
