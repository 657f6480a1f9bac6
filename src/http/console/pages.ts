/** The console page and its files. No sign-in is needed: the ticket in the page's URL opens the screen. */
import { createHash } from 'node:crypto';
import type { FastifyInstance } from 'fastify';
import { parseId } from '../../kernel/ids.ts';
import { CONSOLE_STYLE, consolePage } from '../../panel/servers/console.ts';
import { CONSOLE_PATHS, PANEL_PATHS, serverPagePath } from '../../spec/paths.ts';
import { isHost } from '../base-url.ts';
import type { Edge } from '../settings.ts';
import { consoleFiles, NOVNC_LICENSE, PAGE_SCRIPT } from './files.ts';

const styleHash = createHash('sha256').update(CONSOLE_STYLE).digest('base64');

export function registerConsolePages(scope: FastifyInstance, edge: Edge): void {
  scope.get(CONSOLE_PATHS.page, (request, reply) => {
    const { version } = consoleFiles();
    const page = consolePage({
      site: edge.service.settings.siteName,
      script: `${CONSOLE_PATHS.page}/files/${version}/${PAGE_SCRIPT}`,
      license: `${CONSOLE_PATHS.page}/files/${version}/${NOVNC_LICENSE}`,
      back: backLink((request.query as Readonly<Record<string, unknown>>).server),
    });
    reply.headers(pageHeaders(socketOrigins(edge.settings.baseUrl, request.host))).send(page);
  });

  const file = `${CONSOLE_PATHS.page}/files/:version/*`;
  scope.get<{ Params: { version: string; '*': string } }>(file, (request, reply) => {
    const { version, byPath } = consoleFiles();
    const consoleFile = request.params.version === version ? byPath.get(request.params['*']) : undefined;
    if (!consoleFile) return reply.callNotFound();
    reply
      .headers({
        'content-type': consoleFile.type,
        'cache-control': 'public, max-age=31536000, immutable',
        'cross-origin-resource-policy': 'same-origin',
      })
      .send(consoleFile.bytes);
  });
}

/** Links back to the server in the URL, which the panel sets, or to the list of servers. */
function backLink(server: unknown): { name: string; path: string } {
  if (typeof server !== 'string' || parseId('server', server) === undefined)
    return { name: 'to your servers', path: PANEL_PATHS.servers };
  return { name: 'back to the server', path: serverPagePath(server) };
}

/** Lists our own WebSocket origins, because not every browser includes them in `'self'`. */
function socketOrigins(baseUrl: string | null, host: string): string[] {
  const hosts = [baseUrl === null ? undefined : new URL(baseUrl).host, host];
  const named = new Set(hosts.filter((name) => name !== undefined && isHost(name)));
  return [...named].flatMap((name) => [`ws://${name}`, `wss://${name}`]);
}

function pageHeaders(sockets: readonly string[]): Record<string, string> {
  return {
    'content-type': 'text/html; charset=utf-8',
    'content-security-policy': [
      `default-src 'none'`,
      `script-src 'self'`,
      `style-src 'sha256-${styleHash}'`,
      // noVNC draws pointers and pictures from data: URLs.
      `img-src data:`,
      `connect-src ${["'self'", ...sockets].join(' ')}`,
      `form-action 'none'`,
      `base-uri 'none'`,
      `frame-ancestors 'none'`,
    ].join('; '),
    // The page's URL contains the ticket.
    'referrer-policy': 'no-referrer',
    'x-frame-options': 'DENY',
    'cross-origin-opener-policy': 'same-origin',
    'cross-origin-resource-policy': 'same-origin',
    'permissions-policy': 'camera=(), geolocation=(), microphone=()',
    'cache-control': 'no-store',
  };
}
