/** The message of a mail: its text without the quoted mail below it, and its files. */
import { Failure } from '../../../../kernel/fail.ts';
import type { IncomingFile, MailBody } from '../../../../ports/incoming-mail.ts';
import { LIMITS } from '../../../../spec/limits.ts';
import { type FileRoom, type RecognizedFile, recognizeTicketFile } from '../attach.ts';

/** Parts that mail programs add, which say nothing to a person. */
const SILENT_TYPES = new Set(['application/pgp-signature', 'application/pkcs7-signature', 'text/x-amp-html']);
/** Of files that were not attached, so many are named. */
const NAMED_MAX = 10;
const NAME_MAX_CHARS = 60;
/** Where the text of a mail that is too long for a message goes. */
const LONG_TEXT = 'message.txt';

export interface MailMessage {
  readonly text: string;
  readonly files: readonly RecognizedFile[];
}

/** The message of a mail; null if it says nothing. `ours` are addresses that the service writes from. */
export function messageOf(mail: MailBody, ours: readonly string[], room: FileRoom): MailMessage | null {
  const written = withoutQuote(cleanText(mail.text), ours);
  const isLong = written.length > LIMITS.ticketTextMaxChars;
  const long = { name: LONG_TEXT, type: 'text/plain', content: Buffer.from(written) };
  const sent = mail.files.filter(({ type }) => !SILENT_TYPES.has(type));
  const { files, refused } = takeFiles(isLong ? [long, ...sent] : sent, room);
  if (written === '' && files.length + refused.length === 0) return null;
  const notes = [
    ...(isLong ? [`The text of the mail is longer: it is in ${LONG_TEXT}.`] : []),
    ...(files.length > 0 ? [`Attached ${files.map(({ name }) => name).join(', ')}.`] : []),
    ...(refused.length > 0 ? [`Not attached: ${listNames(refused)}`] : []),
  ].join('\n');
  // Half of a pair of code units is no character.
  const shown = written
    .slice(0, LIMITS.ticketTextMaxChars - notes.length - 2)
    .replace(/[\ud800-\udbff]$/, '');
  const text = [shown, notes];
  return { text: text.filter((part) => part !== '').join('\n\n'), files };
}

function cleanText(text: string): string {
  return text
    .replace(/\r\n?/g, '\n')
    .replace(/[^\P{Cc}\n\t]/gu, '')
    .replace(/^\n+/, '')
    .trimEnd();
}

interface Refused {
  readonly name: string;
  readonly why: string;
}

/** Takes the files that a ticket may have, in their order, as long as there is room. */
function takeFiles(
  sent: readonly IncomingFile[],
  room: FileRoom,
): { readonly files: readonly RecognizedFile[]; readonly refused: readonly Refused[] } {
  const files: RecognizedFile[] = [];
  const refused: Refused[] = [];
  let bytes = room.bytes;
  for (const { name, content } of sent) {
    const file = recognize(name, content);
    const why =
      typeof file === 'string'
        ? file
        : files.length >= room.files || content.length > bytes
          ? 'Your tickets have no room for more files.'
          : null;
    if (why === null && typeof file !== 'string') {
      files.push(file);
      bytes -= content.length;
    } else refused.push({ name, why: why ?? '' });
  }
  return { files, refused };
}

/** The file, or why it is refused. */
function recognize(name: string, content: Buffer): RecognizedFile | string {
  try {
    return recognizeTicketFile({ name, content });
  } catch (error) {
    if (error instanceof Failure) return error.message;
    throw error;
  }
}

function listNames(refused: readonly Refused[]): string {
  const lines = refused.slice(0, NAMED_MAX).map(({ name, why }) => `${shownName(name)}. ${why}`);
  const more = refused.length - NAMED_MAX;
  return [...lines, ...(more > 0 ? [`${more} more files.`] : [])].join('\n');
}

function shownName(name: string): string {
  const clean = name.replace(/[\p{C}\s]+/gu, ' ').trim();
  return [...clean].slice(0, NAME_MAX_CHARS).join('') || 'a file without a name';
}

/** A mail program may break the line above a quote twice. */
const ATTRIBUTION_LINES_MAX = 3;
const ATTRIBUTION_MAX_CHARS = 400;

/**
 * Cuts off the quoted mail below the text: lines that begin with `>` up to the end, below a line like
 * "On … wrote:" or one in any language that has an address of ours. Anything else stays.
 */
export function withoutQuote(text: string, ours: readonly string[]): string {
  const lines = text.split('\n');
  let start = lines.length;
  while (start > 0 && /^\s*(?:>|$)/.test(lines[start - 1] ?? '')) start -= 1;
  const hasQuote = lines.slice(start).some((line) => /^\s*>/.test(line));
  if (!hasQuote) return text;
  for (let count = 1; count <= Math.min(ATTRIBUTION_LINES_MAX, start); count += 1) {
    const above = lines
      .slice(start - count, start)
      .join(' ')
      .trim();
    if (!isAttribution(above, ours)) continue;
    const rest = lines
      .slice(0, start - count)
      .join('\n')
      .trimEnd();
    return rest === '' ? text : rest;
  }
  return text;
}

function isAttribution(line: string, ours: readonly string[]): boolean {
  if (line.length > ATTRIBUTION_MAX_CHARS || !line.endsWith(':')) return false;
  if (/^On\b.*\d.*\bwrote:$/.test(line)) return true;
  // With the date, which may be in the line above.
  const lower = line.toLowerCase();
  return ours.some((address) => lower.includes(address) && /\d/.test(lower.replaceAll(address, '')));
}
