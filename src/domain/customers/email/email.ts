import { fail } from '../../../kernel/fail.ts';
import { LIMITS } from '../../../spec/limits.ts';

export interface Email {
  /** As typed by the customer. */
  readonly address: string;
  /** Lowercase: spellings that differ only in case are the same account. */
  readonly key: string;
}

const LOCAL = /^[^\s\p{C}@<>()[\]\\,;:"]{1,64}$/u;
const LABEL = /^[\p{L}\p{M}\p{N}](?:[\p{L}\p{M}\p{N}-]{0,61}[\p{L}\p{M}\p{N}])?$/u;

/**
 * Parses an email address by a simple rule: a local part, one `@`, and a host name with a dot. Quoted local
 * parts and IP address literals are standard but unused in practice. Returns undefined if it is invalid.
 */
export function parseEmail(text: string): Email | undefined {
  const address = text.trim().normalize('NFC');
  if ([...address].length > LIMITS.emailMaxChars) return undefined;
  const [local, domain, ...rest] = address.split('@');
  if (!local || !domain || rest.length > 0 || !LOCAL.test(local)) return undefined;
  if (local.startsWith('.') || local.endsWith('.') || local.includes('..')) return undefined;
  const labels = domain.split('.');
  if (labels.length < 2 || !labels.every((label) => LABEL.test(label))) return undefined;
  return { address, key: address.toLowerCase() };
}

/** Parses an email address; fails with `bad_email`. */
export function requireEmail(text: string): Email {
  return parseEmail(text) ?? fail('bad_email');
}
