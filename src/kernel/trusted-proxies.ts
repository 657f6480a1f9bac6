/** The reverse proxies whose word is taken for where a request comes from. */
import { addressFamily, formatCidr, parseCidr } from './cidr.ts';

const PROXIES_MAX = 64;

/** Reads `127.0.0.1, 10.0.0.0/8, 2001:db8::/64`; an empty text is none. Throws a RangeError that says what is allowed. */
export function parseTrustedProxies(text: string): readonly string[] {
  const parts = text.split(',').map((part) => part.trim());
  const named = parts.filter((part) => part !== '');
  if (named.length > PROXIES_MAX) throw new RangeError(`give at most ${PROXIES_MAX} addresses or blocks`);
  return named.map((part) => (addressFamily(part) === undefined ? parseProxyBlock(part) : part));
}

function parseProxyBlock(text: string): string {
  const cidr = parseCidr(text);
  // Everybody would say for himself where he comes from.
  if (!cidr || cidr.prefixLength === 0) {
    throw new RangeError(
      'give addresses or CIDR blocks, such as 127.0.0.1 or 10.0.0.0/8, separated by commas; no host bits, and not /0',
    );
  }
  return formatCidr(cidr);
}
