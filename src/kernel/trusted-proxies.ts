/** The reverse proxies that are trusted to report the client's address. */
import { addressFamily, formatCidr, parseCidr } from './cidr.ts';

const PROXIES_MAX = 64;

/**
 * Parses `127.0.0.1, 10.0.0.0/8, 2001:db8::/64`; may be empty. Throws a RangeError that states the format.
 */
export function parseTrustedProxies(text: string): readonly string[] {
  const parts = text.split(',').map((part) => part.trim());
  const named = parts.filter((part) => part !== '');
  if (named.length > PROXIES_MAX) throw new RangeError(`must be at most ${PROXIES_MAX} addresses or blocks`);
  return named.map((part) => (addressFamily(part) === undefined ? parseProxyBlock(part) : part));
}

function parseProxyBlock(text: string): string {
  const cidr = parseCidr(text);
  // With /0, every client could forge its own address.
  if (!cidr || cidr.prefixLength === 0) {
    throw new RangeError(
      'must be IP addresses or CIDR blocks, such as 127.0.0.1 or 10.0.0.0/8, separated by commas; ' +
        'no host bits, and not /0',
    );
  }
  return formatCidr(cidr);
}
