/** Patterns of text fields, and each rule in words: a message shows the words, never the expression. */
import { LIMITS } from './limits.ts';

interface PatternRow {
  readonly pattern: string;
  /** Completes "must be". */
  readonly words: string;
}

const LABEL_KEY = '[a-z0-9_-]{1,63}';
const VISIBLE = '[^\\p{C}\\p{Zl}\\p{Zp}]';

/** RFC 1123: letters, digits, and inner hyphens. */
const HOST_LABEL = '[A-Za-z0-9]([A-Za-z0-9-]{0,61}[A-Za-z0-9])?';

export const PATTERNS = {
  serverName: {
    pattern: '^[a-z][a-z0-9-]*$',
    words: 'lowercase letters, digits, and hyphens, starting with a letter',
  },
  hostName: {
    pattern: `^(${HOST_LABEL}\\.)*(?![0-9]+$)${HOST_LABEL}$`,
    words:
      'a host name, such as web.example.org: parts of up to 63 letters, digits, and inner hyphens, ' +
      'separated by dots, of which the last is not a number',
  },
  /** One port, a comma-separated list, or a range, never mixed; no spaces, no leading zeros. */
  ports: {
    pattern: '^[1-9][0-9]{0,4}(-[1-9][0-9]{0,4}|(,[1-9][0-9]{0,4})*)$',
    words: 'a port, a list of ports, or a range, such as 443, or 80,443, or 8000-8999',
  },
  labelKey: {
    pattern: `^${LABEL_KEY}$`,
    words: '1 to 63 lowercase letters, digits, hyphens, and underscores',
  },
  /** The value may be empty. */
  labelFilter: {
    pattern: `^${LABEL_KEY}:${VISIBLE}{0,${LIMITS.labelValueMaxChars}}$`,
    words:
      'key:value, such as env:prod, with a key of 1 to 63 lowercase letters, digits, hyphens, and ' +
      `underscores, and a value of up to ${LIMITS.labelValueMaxChars} visible characters`,
  },
  /** Text without control and invisible characters and line ends: kernel/printable.ts as a pattern. */
  printable: {
    pattern: `^${VISIBLE}*$`,
    words: 'one line of visible characters',
  },
} as const satisfies Readonly<Record<string, PatternRow>>;

/** Returns the rule of a pattern in words that complete "must be"; undefined if it is not in the table. */
export function describePattern(pattern: unknown): string | undefined {
  const rows: readonly PatternRow[] = Object.values(PATTERNS);
  return rows.find((row) => row.pattern === pattern)?.words;
}
