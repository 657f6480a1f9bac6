import { fail } from '../../kernel/fail.ts';
import { LIMITS } from '../../spec/limits.ts';

export interface Email {
  /** As the customer writes it. */
  readonly address: string;
  /** In lower case: two spellings that differ in case only are one account. */
  readonly key: string;
}

const LOCAL = /^[^\s\p{C}@<>()[\]\\,;:"]{1,64}$/u;
const LABEL = /^[\p{L}\p{M}\p{N}](?:[\p{L}\p{M}\p{N}-]{0,61}[\p{L}\p{M}\p{N}])?$/u;

/**
 * A plain rule: something before the one `@`, a host name with a dot after it. Quoted local parts and bare
 * addresses exist in the standard and nowhere else. Undefined when it is not an e-mail address.
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

/** Refuses with `bad_email`. */
export function requireEmail(text: string): Email {
  return parseEmail(text) ?? fail('bad_email');
}
