/** The address of a host as a user types it. */
import { Failure } from '../exit-codes.ts';

/**
 * Adds a scheme if there is none: `skerry.example` is `https://skerry.example`; loopback and Tor use http.
 * Removes `/v1` and trailing slashes.
 */
export function parseAddress(text: string): string {
  const hasScheme = /^[a-z][a-z0-9+.-]*:\/\//i.test(text);
  const full = hasScheme ? text : `https://${text}`;
  const url = URL.canParse(full) ? new URL(full) : null;
  if (url === null || !/^https?:$/.test(url.protocol)) {
    throw new Failure(
      'usage',
      `"${text}" is not a valid host address; use a URL such as https://skerry.example`,
    );
  }
  if (url.username || url.password || url.search || url.hash) {
    throw new Failure(
      'usage',
      'the address must not contain a user name, a query, or a fragment; use only host and path',
    );
  }
  if (!hasScheme && isPrivateChannel(url)) url.protocol = 'http:';
  return `${url.origin}${url.pathname.replace(/\/+$/, '').replace(/\/v1$/, '')}`;
}

/** Whether a token that is sent to this address can be read in transit. */
export function isUnencrypted(address: string): boolean {
  const url = new URL(address);
  return url.protocol === 'http:' && !isPrivateChannel(url);
}

/** Loopback does not leave the machine, and Tor encrypts on its own. */
function isPrivateChannel({ hostname }: URL): boolean {
  return /^(localhost|.+\.localhost|127(\.\d+){3}|\[::1\]|.+\.onion)$/.test(hostname);
}

/** The default name of a context: the host name. */
export function defaultContextName(address: string): string {
  return new URL(address).hostname.replace(/[^A-Za-z0-9._-]+/g, '').slice(0, 63);
}
