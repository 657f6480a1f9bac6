import { readFileSync, statSync } from 'node:fs';
import type { Config } from '../config.ts';
import { OperatorError } from '../kernel/operator-error.ts';

const MAX_BYTES = 256 * 1024;

/** The operator's terms of service. A file that cannot be read ends start-up: customers would be shown that there are none. */
export function readTerms(config: Pick<Config, 'SKERRY_TERMS_FILE'>): string | null {
  const file = config.SKERRY_TERMS_FILE;
  if (file === null) return null;
  const text = readTermsFile(file);
  if (text !== null && text.trim() !== '') return text;
  throw new OperatorError(
    `SKERRY_TERMS_FILE: there is no Markdown file of 1 byte to ${MAX_BYTES / 1024} KiB that can be read; unset it, or name one`,
  );
}

function readTermsFile(file: string): string | null {
  try {
    if (statSync(file).size > MAX_BYTES) return null;
    return new TextDecoder('utf-8', { fatal: true }).decode(readFileSync(file));
  } catch {
    // Said by the caller: one that is not there, and one that is no text, are alike.
    return null;
  }
}
