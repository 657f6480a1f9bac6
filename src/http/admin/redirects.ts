/** Where a page of the console leads next. */
import type { FastifyReply, FastifyRequest } from 'fastify';
import { CONSOLE_PATHS } from '../../panel/staff/layout.ts';
import type { ConsoleNotice } from '../../panel/staff/notices.ts';
import { PANEL_QUERY } from '../../spec/paths.ts';

export function redirect(reply: FastifyReply, path: string): FastifyReply {
  return reply.code(303).header('location', path).send();
}

/** After signing in, the person continues on the page. */
export function redirectToSignIn(
  { request, reply }: { readonly request: FastifyRequest; readonly reply: FastifyReply },
  notice?: ConsoleNotice,
): FastifyReply {
  const next = request.method === 'GET' ? request.url : pathOf(request).replace(CONSOLE_PATHS.signOut, '/');
  const path =
    next === '' || next === '/'
      ? CONSOLE_PATHS.signIn
      : `${CONSOLE_PATHS.signIn}?next=${encodeURIComponent(next)}`;
  return redirect(reply, withNotice(path, notice));
}

export function pathOf({ url }: FastifyRequest): string {
  return url.split('?')[0] ?? '/';
}

export function withNotice(path: string, notice: ConsoleNotice | undefined): string {
  if (notice === undefined) return path;
  return `${path}${path.includes('?') ? '&' : '?'}${PANEL_QUERY.notice}=${notice}`;
}
