/**
 * The origin of a request. Limits and GeoIP use the address here at the edge, and it goes no further.
 * X-Forwarded-* headers count only on a connection from a trusted proxy (SKERRY_TRUSTED_PROXIES): then the
 * client is the right-most hop that is not a trusted proxy.
 */
import { isIP } from 'node:net';
import type { FastifyRequest } from 'fastify';
import { isForbiddenAddress } from '../kernel/address-safety.ts';
import type { Geo } from '../ports/geo.ts';
import { UNKNOWN_COUNTRY } from '../spec/countries.ts';
import type { HttpSettings } from './settings.ts';

/** The client's bare address. If a proxy sent something else, returns that text, or an empty one. */
export function clientAddress(request: FastifyRequest): string {
  const ip: string | undefined = request.ip;
  if (ip === undefined || isIP(ip) !== 0) return ip ?? '';
  // Some proxies include the port.
  return /^\[([^\]]+)\](?::\d+)?$/.exec(ip)?.[1] ?? /^([\d.]+):\d+$/.exec(ip)?.[1] ?? ip;
}

/** Returns the ISO 3166-1 code of an address, or `XX` if it is unknown or not on the public internet. */
export function resolveCountry(geo: Geo, address: string): string {
  const bare = /^::ffff:(\d+\.\d+\.\d+\.\d+)$/i.exec(address)?.[1] ?? address;
  if (isForbiddenAddress(bare, { allowLoopback: false })) return UNKNOWN_COUNTRY;
  return geo.countryOf(bare) ?? UNKNOWN_COUNTRY;
}

/** Whether the client uses TLS, to us or to a trusted proxy. */
export function isSecure(request: FastifyRequest): boolean {
  return request.protocol === 'https';
}

/** Whether customers reach the service over https: as its URL says, else as this request arrived. */
export function isServedSecurely(settings: Pick<HttpSettings, 'baseUrl'>, request: FastifyRequest): boolean {
  return settings.baseUrl?.startsWith('https:') ?? isSecure(request);
}
