/** Reads a mail (RFC 5322, MIME) with bounds. HTML becomes text; nothing in it is run or fetched. */
import type { Email } from 'postal-mime';
import type { IncomingMail } from '../../ports/incoming-mail.ts';

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

/** Loaded with the first mail. */
const loadLibrary = () => import('postal-mime');

/** Rejects if the mail exceeds a bound. */
export async function parseMail(bytes: Buffer): Promise<IncomingMail> {
  const { default: parser } = await loadLibrary();
  const mail = await parser.parse(bytes, OPTIONS);
  return {
    headers: mail.headers.map(({ key, value }) => ({ key, value })),
    from: await addressesOf(mail),
    subject: mail.subject ?? '',
    text: mail.text ?? (mail.html === undefined ? '' : await htmlToText(mail.html)),
    files: mail.attachments.map(({ filename, mimeType, content }) => ({
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
async function addressesOf({ headers }: Email): Promise<string[]> {
  const { addressParser } = await loadLibrary();
  const values = headers.filter(({ key }) => key === 'from').map(({ value }) => value.trim());
  return values.flatMap((value) => {
    if (value.length > FROM_MAX_CHARS) return [''];
    const addresses = addressParser(value, { flatten: true }).map(({ address }) => address ?? '');
    const isPlain = addresses.every((each) => value === each || value.endsWith(`<${each}>`));
    return isPlain ? addresses : ['', ''];
  });
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
  const { default: parser } = await loadLibrary();
  const { text = '' } = await parser.parse(mail.join('\r\n'), OPTIONS);
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
