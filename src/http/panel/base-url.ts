import { isSecure } from '../client-address.ts';
import type { PageContext } from './page-types.ts';

/**
 * A host name or address with a port. Nothing else is repeated on a page, especially not in a command to
 * copy.
 */
const HOST_PATTERN = /^(?:[a-z0-9](?:[a-z0-9.-]{0,251}[a-z0-9])?|\[[0-9a-f:.]{2,45}\])(?::\d{1,5})?$/i;

/**
 * Returns the service's URL without a trailing slash: the setting, or else as the browser's request names it.
 */
export function resolveBaseUrl({ edge, request }: Pick<PageContext, 'edge' | 'request'>): string {
  const { baseUrl } = edge.settings;
  if (baseUrl !== null) return baseUrl.replace(/\/+$/, '');
  const host = request.headers.host ?? '';
  if (!HOST_PATTERN.test(host)) return edge.service.settings.baseUrl.replace(/\/+$/, '');
  return `http${isSecure(request) ? 's' : ''}://${host.toLowerCase()}`;
}
