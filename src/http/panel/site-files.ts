/** The two files that browsers and robots request from every site. */
import { readFileSync } from 'node:fs';
import type { FastifyInstance } from 'fastify';

const FAVICON = readFileSync(new URL('../../panel/favicon.png', import.meta.url));
/** Their paths never change, so they are cached for a day instead of permanently. */
const CACHE_HEADERS = { 'cache-control': 'public, max-age=86400' };

export function registerSiteFiles(scope: FastifyInstance): void {
  scope.get('/favicon.ico', (_request, reply) => {
    reply
      .headers({
        'content-type': 'image/png',
        'cross-origin-resource-policy': 'same-origin',
        ...CACHE_HEADERS,
      })
      .send(FAVICON);
  });
  scope.get('/robots.txt', (_request, reply) => {
    reply
      .headers({ 'content-type': 'text/plain; charset=utf-8', ...CACHE_HEADERS })
      .send('User-agent: *\nAllow: /\n');
  });
}
