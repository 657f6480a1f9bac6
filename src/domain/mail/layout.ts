/** From paragraphs to a plain text: lines of at most 72 characters, but for links, which are never broken. */
import type { Panel, Written } from './templates/words.ts';

const LINE_CHARS = 72;

export interface Rendered {
  readonly subject: string;
  /** Lines end in `\n`. */
  readonly text: string;
}

export function layOut({ subject, paragraphs }: Written, panel: Panel): Rendered {
  const body = paragraphs.map((paragraph) => paragraph.split('\n').map(wrap).join('\n')).join('\n\n');
  return { subject: subject.replace(/[\p{C}\p{Zl}\p{Zp}\s]+/gu, ' '), text: `${body}\n\n${footer(panel)}\n` };
}

function footer({ baseUrl }: Panel): string {
  const why = wrap('This mail is about an account there. We mail only when something happens to it.');
  // The line that mail programs take for the beginning of a signature.
  return `-- \n${baseUrl}/\n${why}`;
}

function wrap(line: string): string {
  const lines: string[] = [];
  let current = '';
  for (const word of line.split(' ')) {
    const longer = current === '' ? word : `${current} ${word}`;
    if (current !== '' && [...longer].length > LINE_CHARS) {
      lines.push(current);
      current = word;
    } else {
      current = longer;
    }
  }
  return [...lines, current].join('\n');
}
