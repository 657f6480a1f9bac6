/** A host's address, as a person types it. */
import { Failure } from '../exit-codes.ts';

/** `skerry.example` is `https://skerry.example`; on this machine and on Tor it is http. Without /v1 and slashes at its end. */
export function parseAddress(text: string): string {
  const hasScheme = /^[a-z][a-z0-9+.-]*:\/\//i.test(text);
  const full = hasScheme ? text : `https://${text}`;
  const url = URL.canParse(full) ? new URL(full) : null;
  if (url === null || !/^https?:$/.test(url.protocol)) {
    throw new Failure('usage', `"${text}" is not the address of a host, such as https://skerry.example`);
  }
  if (url.username || url.password || url.search || url.hash) {
    throw new Failure(
      'usage',
      'the address has a user, a query or a fragment: only host and path belong there',
    );
  }
  if (!hasScheme && isPrivateChannel(url)) url.protocol = 'http:';
  return `${url.origin}${url.pathname.replace(/\/+$/, '').replace(/\/v1$/, '')}`;
}

/** Whether a token that is sent there can be read on its way. */
export function isUnencrypted(address: string): boolean {
  const url = new URL(address);
  return url.protocol === 'http:' && !isPrivateChannel(url);
}

/** Loopback does not leave the machine, and Tor encrypts by itself. */
function isPrivateChannel({ hostname }: URL): boolean {
  return /^(localhost|.+\.localhost|127(\.\d+){3}|\[::1\]|.+\.onion)$/.test(hostname);
}

/** What a context is called unless one says so: the host's name. */
export function defaultContextName(address: string): string {
  return new URL(address).hostname.replace(/[^A-Za-z0-9._-]+/g, '').slice(0, 63);
}
