/** The thread that reads a mail (RFC 5322, MIME) with bounds. HTML becomes text; nothing is fetched. */
import PostalMime, { addressParser, type Email } from 'postal-mime';
import type { MailBody, MailHeaders } from '../../ports/incoming-mail.ts';

const OPTIONS = {
  // A forwarded mail is a file, so that its text does not look like the customer's.
  forceRfc822Attachments: true,
  maxRfc822NestingDepth: 0,
  maxNestingDepth: 32,
  maxHeadersSize: 256 * 1024,
  attachmentEncoding: 'arraybuffer',
} as const;
/** Of more HTML, the rest is cut off. */
const HTML_MAX_CHARS = 1024 ** 2;
const FROM_MAX_CHARS = 2_000;

export interface ParseTask {
  readonly part: 'headers' | 'body';
  readonly bytes: Uint8Array;
}

/** Returns null for a mail that exceeds a bound, so that a failure of the thread differs from it. */
export default async function parse({ part, bytes }: ParseTask): Promise<MailHeaders | MailBody | null> {
  try {
    return part === 'headers' ? await parseHeaders(bytes) : await parseBody(bytes);
  } catch {
    return null;
  }
}

/** With a space before the colon, mail servers may not recognize a header that they should remove. */
const SPACED_RESULTS = /^authentication-results[ \t]+:/im;

async function parseHeaders(bytes: Uint8Array): Promise<MailHeaders> {
  const text = Buffer.from(bytes).toString('latin1');
  const [head = ''] = text.split(/\r?\n\r?\n/, 1);
  if (SPACED_RESULTS.test(head)) throw new Error('a header of the mail server has a space before its colon');
  const mail = await PostalMime.parse(bytes, OPTIONS);
  return {
    headers: mail.headers.map(({ key, value }) => ({ key, value })),
    from: addressesOf(mail),
    subject: mail.subject ?? '',
  };
}

async function parseBody(bytes: Uint8Array): Promise<MailBody> {
  const { text, html, attachments } = await PostalMime.parse(bytes, OPTIONS);
  return {
    text: text ?? (html === undefined ? '' : await htmlToText(html)),
    files: attachments.map(({ filename, mimeType, content }) => ({
      name: filename ?? '',
      type: mimeType,
      content: typeof content === 'string' ? Buffer.from(content) : Buffer.from(content as ArrayBuffer),
    })),
  };
}

/**
 * The library reads only the first From header: all are read here. A header that other programs may read
 * differently, such as one with a comment behind the address, has an address that no one has.
 */
function addressesOf({ headers }: Email): string[] {
  return headers.filter(({ key }) => key === 'from').flatMap(({ value }) => addressesIn(value.trim()));
}

function addressesIn(value: string): string[] {
  if (value.length > FROM_MAX_CHARS) return [''];
  const addresses = addressParser(value, { flatten: true }).map(({ address }) => address ?? '');
  const isPlain = addresses.every((each) => value === each || value.endsWith(`<${each}>`));
  return isPlain ? addresses : ['', ''];
}

/**
 * The library writes HTML as text where a mail has both kinds of parts, in linear time, so it gets the HTML
 * next to an empty text.
 */
async function htmlToText(html: string): Promise<string> {
  const encoded = Buffer.from(withoutStyles(html.slice(0, HTML_MAX_CHARS))).toString('base64');
  const mail = [
    'Content-Type: multipart/mixed; boundary="x"',
    '',
    '--x',
    'Content-Type: text/plain',
    '',
    '--x',
    'Content-Type: text/html; charset=utf-8',
    'Content-Transfer-Encoding: base64',
    '',
    ...(encoded.match(/.{1,76}/g) ?? []),
    '--x--',
    '',
  ];
  const { text = '' } = await PostalMime.parse(mail.join('\r\n'), OPTIONS);
  return text;
}

function withoutStyles(html: string): string {
  const [before = '', ...rest] = html.split(/<(?=style\b)/i);
  const after = rest.map((piece) => {
    const end = piece.search(/<\/style/i);
    return end < 0 ? '' : piece.slice(end);
  });
  return [before, ...after].join('');
}
