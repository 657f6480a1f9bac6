/** YAML that YAML 1.1 and 1.2 read alike: every text is in double quotes, on one line. */
import type { Scalar } from 'yaml';
import { loadYaml } from '../output/output.ts';
import { escapeInvisible } from './account.ts';

/** Keys that every parser reads as text without quotes; `e0` is a number to some. */
const PLAIN_KEY = /^(?!(?:yes|off|true|false|null)$)(?:id|[a-z]{3}[a-zA-Z0-9_.]*)$/;

export interface Style {
  /** Replaces a text, for a tool that finds expressions in it. */
  readonly text?: (text: string) => string;
  /** The tag of a text; undefined for none. */
  readonly tag?: (text: string) => string | undefined;
}

/** Leaves out members that are undefined. */
export function toYaml(value: unknown, { text = (one) => one, tag = () => undefined }: Style = {}): string {
  const { Document, Scalar, isScalar, visit } = loadYaml();
  // With the schema of YAML 1.1, the text `<<` would not get quotes.
  const document = new Document(value, { version: '1.2' });
  const quote = (node: Scalar, written: string) => {
    node.value = written;
    node.type = Scalar.QUOTE_DOUBLE;
  };
  visit(document, {
    Pair: (_, { key }) => {
      if (isScalar(key) && !PLAIN_KEY.test(String(key.value))) quote(key, String(key.value));
    },
    Scalar: (where, node) => {
      if (where === 'key' || typeof node.value !== 'string') return;
      const own = tag(node.value);
      if (own !== undefined) node.tag = own;
      quote(node, text(node.value));
    },
  });
  const lines = document.toString({ lineWidth: 0, doubleQuotedMinMultiLineLength: Number.MAX_SAFE_INTEGER });
  return lines.split('\n').map(escapeInvisible).join('\n');
}
