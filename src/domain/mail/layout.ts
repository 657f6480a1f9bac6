/** Lays out paragraphs as plain text in lines of at most 72 characters. Links are never broken. */
import type { MailContent, MailPanel } from './templates/format.ts';

const LINE_CHARS = 72;

export interface RenderedMail {
  readonly subject: string;
  /** Lines end in `\n`. */
  readonly text: string;
}

export function layoutMail({ subject, paragraphs }: MailContent, panel: MailPanel): RenderedMail {
  const body = paragraphs.map((paragraph) => paragraph.split('\n').map(wrap).join('\n')).join('\n\n');
  return { subject: subject.replace(/[\p{C}\p{Zl}\p{Zp}\s]+/gu, ' '), text: `${body}\n\n${footer(panel)}\n` };
}

function footer({ baseUrl }: MailPanel): string {
  const why = wrap(
    'This email is about your account at the website above. We write only about changes to your account.',
  );
  // "-- " on its own line marks a signature for mail clients.
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
