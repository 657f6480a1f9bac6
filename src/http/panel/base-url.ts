import { isSecure } from '../client-address.ts';
import type { PageContext } from './page-types.ts';

/** A host's name or address, with a port: nothing else is repeated on a page, least of all in a command to be copied. */
const HOST_PATTERN = /^(?:[a-z0-9](?:[a-z0-9.-]{0,251}[a-z0-9])?|\[[0-9a-f:.]{2,45}\])(?::\d{1,5})?$/i;

/** How the reader of a page reaches the service: the setting, else as his browser says, without a slash at its end. */
export function resolveBaseUrl({ edge, request }: Pick<PageContext, 'edge' | 'request'>): string {
  const { baseUrl } = edge.settings;
  if (baseUrl !== null) return baseUrl.replace(/\/+$/, '');
  const host = request.headers.host ?? '';
  if (!HOST_PATTERN.test(host)) return edge.service.settings.baseUrl.replace(/\/+$/, '');
  return `http${isSecure(request) ? 's' : ''}://${host.toLowerCase()}`;
}
