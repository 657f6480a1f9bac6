/** Which URLs may be subscribed (DECISIONS "Address safety"). Names are not resolved here: the sender does, and checks. */
import { isIP } from 'node:net';
import { invalidRequest } from '../../kernel/fail.ts';
import { isForbiddenAddress } from '../../kernel/forbidden-address.ts';
import type { V1Issue } from '../../spec/errors.ts';

/** Names that mean this machine wherever they are asked. */
const LOOPBACK_NAME = /(^|\.)localhost$|^localhost\.localdomain$|^ip6-(localhost|loopback)$/;

/**
 * Refuses, on `url`, what is no plain https URL of the public internet. The text stays as it was written, so that it reads
 * the same later; so there may be nothing in it that parsers disagree on or leave out.
 */
export function requireWebhookUrl(text: string, options: { readonly allowLoopback: boolean }): void {
  if (!/^https:\/\/[^/\\?#]/i.test(text) || !URL.canParse(text)) {
    failUrl('invalid_format', 'url is an absolute URL that begins with https://.');
  }
  if (/[\s\p{C}\\]/u.test(text)) {
    failUrl('invalid_format', 'url may hold no spaces, control characters or backslashes.');
  }
  if (text.includes('#')) failUrl('invalid_format', 'url may have no fragment (#…): it is never sent.');
  const [authority = ''] = text.slice('https://'.length).split(/[/?]/);
  if (authority.includes('@')) {
    failUrl(
      'invalid_value',
      'url may hold no user name or password; check the signature of deliveries instead.',
    );
  }
  const { hostname, port } = new URL(text);
  if (port === '0') failUrl('invalid_value', 'url may not name port 0: nothing can be reached there.');
  if (isForbiddenHost(hostname, options)) {
    failUrl(
      'invalid_value',
      'url must lead to the public internet, not to a private, local or special address.',
    );
  }
}

/** `hostname` as a URL's parser gives it: every spelling of an address has become the usual one. */
function isForbiddenHost(hostname: string, options: { readonly allowLoopback: boolean }): boolean {
  const name = hostname.replace(/\.$/, '');
  if (LOOPBACK_NAME.test(name)) return !options.allowLoopback;
  const address = name.replace(/^\[|\]$/g, '');
  return isIP(address) !== 0 && isForbiddenAddress(address, options);
}

function failUrl(issue: V1Issue, message: string): never {
  invalidRequest([{ field: 'url', issue }], message);
}
