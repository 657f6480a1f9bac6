/**
 * Where a request comes from. The address is used here, at the edge, for limits and for its country, and goes no further. A
 * caller's X-Forwarded-* headers count only when the connection is a trusted proxy's (SKERRY_TRUSTED_PROXIES): then the
 * address is that of the right-most hop which is none of them.
 */
import { isIP } from 'node:net';
import type { FastifyRequest } from 'fastify';
import { isForbiddenAddress } from '../kernel/forbidden-address.ts';
import type { Geo } from '../ports/geo.ts';
import { UNKNOWN_COUNTRY } from '../spec/countries.ts';

/** The caller's address, bare; whatever a proxy said, or nothing, where it is none. */
export function clientAddress(request: FastifyRequest): string {
  const ip: string | undefined = request.ip;
  if (ip === undefined || isIP(ip) !== 0) return ip ?? '';
  // Some proxies name the port too.
  return /^\[([^\]]+)\](?::\d+)?$/.exec(ip)?.[1] ?? /^([\d.]+):\d+$/.exec(ip)?.[1] ?? ip;
}

/** ISO 3166-1 of an address; `XX` for what is not of the public internet or is nowhere known. */
export function resolveCountry(geo: Geo, address: string): string {
  const bare = /^::ffff:(\d+\.\d+\.\d+\.\d+)$/i.exec(address)?.[1] ?? address;
  if (isForbiddenAddress(bare, { allowLoopback: false })) return UNKNOWN_COUNTRY;
  return geo.countryOf(bare) ?? UNKNOWN_COUNTRY;
}

/** Whether the caller speaks TLS, to us or to a trusted proxy. */
export function isSecure(request: FastifyRequest): boolean {
  return request.protocol === 'https';
}
