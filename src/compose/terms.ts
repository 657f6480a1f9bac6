import { readFileSync, statSync } from 'node:fs';
import type { Config } from '../config.ts';
import { OperatorError } from '../kernel/operator-error.ts';

const MAX_BYTES = 256 * 1024;

/**
 * Reads the operator's terms of service. Throws if the file is unreadable: customers would see that there are
 * none.
 */
export function readTerms(config: Pick<Config, 'SKERRY_TERMS_FILE'>): string | null {
  const file = config.SKERRY_TERMS_FILE;
  if (file === null) return null;
  const text = readTermsFile(file);
  if (text !== null && text.trim() !== '') return text;
  throw new OperatorError(
    `SKERRY_TERMS_FILE: not a readable Markdown file of 1 byte to ${MAX_BYTES / 1024} KiB; ` +
      'fix the path, or unset it',
  );
}

function readTermsFile(file: string): string | null {
  try {
    if (statSync(file).size > MAX_BYTES) return null;
    return new TextDecoder('utf-8', { fatal: true }).decode(readFileSync(file));
  } catch {
    // The caller reports a missing file and an invalid one alike.
    return null;
  }
}
