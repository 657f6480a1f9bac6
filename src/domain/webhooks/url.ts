/**
 * Checks webhook URLs (DECISIONS "Address safety"). Does not resolve names: the sender does, and checks the
 * address.
 */
import { isIP } from 'node:net';
import { isForbiddenAddress } from '../../kernel/address-safety.ts';
import { invalidRequest } from '../../kernel/fail.ts';
import type { V1Issue } from '../../spec/errors.ts';

/** Names that always mean the local machine. */
const LOOPBACK_NAME = /(^|\.)localhost$|^localhost\.localdomain$|^ip6-(localhost|loopback)$/;

/**
 * Fails on `url` unless it is a plain https URL of the public internet. The text is stored unchanged, so it
 * must not contain anything that parsers interpret differently or drop.
 */
export function requireWebhookUrl(text: string, options: { readonly allowLoopback: boolean }): void {
  if (!/^https:\/\/[^/\\?#]/i.test(text) || !URL.canParse(text)) {
    failUrl('invalid_format', 'url must be an absolute URL that begins with https://.');
  }
  if (/[\s\p{C}\\]/u.test(text)) {
    failUrl('invalid_format', 'url must not contain spaces, control characters, or backslashes.');
  }
  if (text.includes('#'))
    failUrl('invalid_format', 'url must not have a fragment (#…), because it is never sent.');
  const [authority = ''] = text.slice('https://'.length).split(/[/?]/);
  if (authority.includes('@')) {
    failUrl(
      'invalid_value',
      'url must not contain a user name or password. Verify the signature of deliveries instead.',
    );
  }
  const { hostname, port } = new URL(text);
  if (port === '0') failUrl('invalid_value', 'url must not use port 0.');
  if (isForbiddenHost(hostname, options)) {
    failUrl(
      'invalid_value',
      'url must point to the public internet, not to a private, local, or special address.',
    );
  }
}

/** Expects `hostname` from a URL parser, which normalizes every spelling of an address. */
function isForbiddenHost(hostname: string, options: { readonly allowLoopback: boolean }): boolean {
  const name = hostname.replace(/\.$/, '');
  if (LOOPBACK_NAME.test(name)) return !options.allowLoopback;
  const address = name.replace(/^\[|\]$/g, '');
  return isIP(address) !== 0 && isForbiddenAddress(address, options);
}

function failUrl(issue: V1Issue, message: string): never {
  invalidRequest([{ field: 'url', issue }], message);
}
