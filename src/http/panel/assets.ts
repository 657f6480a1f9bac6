/**
 * The stylesheet and the scripts of all pages: read once, served from memory, with a hash of their content as
 * name. And the two files that browsers and robots request from every site.
 */
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import type { FastifyInstance } from 'fastify';

interface Asset {
  readonly path: string;
  readonly type: string;
  readonly bytes: Buffer;
}

const HASH_CHARS = 16;

function loadAsset(file: string, type: string): Asset {
  const bytes = readFileSync(new URL(`../../panel/${file}`, import.meta.url));
  const hash = createHash('sha256').update(bytes).digest('hex').slice(0, HASH_CHARS);
  return { path: `/assets/${hash}/${file}`, type, bytes };
}

const STYLE = loadAsset('style.css', 'text/css; charset=utf-8');
const SCRIPT = loadAsset('enhance.js', 'text/javascript; charset=utf-8');
const LIVE = loadAsset('live.js', 'text/javascript; charset=utf-8');
const PASSKEYS = loadAsset('passkeys.js', 'text/javascript; charset=utf-8');

/** Their paths. */
export const ASSETS = {
  style: STYLE.path,
  script: SCRIPT.path,
  live: LIVE.path,
  passkeys: PASSKEYS.path,
} as const;

export function registerAssets(scope: FastifyInstance): void {
  for (const { path, type, bytes } of [STYLE, SCRIPT, LIVE, PASSKEYS]) {
    scope.get(path, (_request, reply) => {
      reply
        .headers({
          'content-type': type,
          'cache-control': 'public, max-age=31536000, immutable',
          'cross-origin-resource-policy': 'same-origin',
        })
        .send(bytes);
    });
  }
}

const FAVICON = readFileSync(new URL('../../panel/favicon.png', import.meta.url));
/** The paths of these two never change, so they are cached for a day instead of permanently. */
const CACHE_HEADERS = { 'cache-control': 'public, max-age=86400' };

export function registerFavicon(scope: FastifyInstance): void {
  scope.get('/favicon.ico', (_request, reply) => {
    reply
      .headers({
        'content-type': 'image/png',
        'cross-origin-resource-policy': 'same-origin',
        ...CACHE_HEADERS,
      })
      .send(FAVICON);
  });
}

export function registerSiteFiles(scope: FastifyInstance): void {
  registerFavicon(scope);
  scope.get('/robots.txt', (_request, reply) => {
    reply
      .headers({ 'content-type': 'text/plain; charset=utf-8', ...CACHE_HEADERS })
      .send('User-agent: *\nAllow: /\n');
  });
}
