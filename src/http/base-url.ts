import { isIPv6 } from 'node:net';
import type { FastifyRequest } from 'fastify';
import { isSecure } from './client-address.ts';
import type { Edge } from './settings.ts';

const LABEL = '[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?';
const HOST_PATTERN = new RegExp(`^(?:${LABEL}(?:\\.${LABEL})*|\\[(?<ipv6>[^\\]]*)\\])(?::\\d{1,5})?$`, 'i');
const HOST_MAX_CHARS = 253 + ':65535'.length;

/** Whether a text is a host name or an IP address, with or without a port, as in a Host header. */
export function isHost(text: string): boolean {
  const ipv6 = HOST_PATTERN.exec(text)?.groups?.ipv6;
  if (text.length > HOST_MAX_CHARS || (ipv6 !== undefined && !isIPv6(ipv6))) return false;
  // The parser also rejects a port or an IPv4 address that is out of range.
  return HOST_PATTERN.test(text) && URL.canParse(`http://${text}`);
}

/**
 * Returns the service's URL without a trailing slash: the setting, else as the Host header names it, else the
 * address that we listen on. Nothing but a valid host is repeated in a response: it may end up in a command.
 */
export function resolveBaseUrl(call: { readonly edge: Edge; readonly request: FastifyRequest }): string {
  const { settings, service } = call.edge;
  const host = call.request.headers.host ?? '';
  const requested = isHost(host)
    ? `http${isSecure(call.request) ? 's' : ''}://${host.toLowerCase()}`
    : service.settings.baseUrl;
  return (settings.baseUrl ?? requested).replace(/\/+$/, '');
}
