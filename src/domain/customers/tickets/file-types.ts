/** Types of files by their content, and names that a header and a disk can have. */
import { fail } from '../../../kernel/fail.ts';

/** The beginnings that a type has. */
const MAGIC = {
  'image/png': [Buffer.from('89504e470d0a1a0a', 'hex')],
  'image/jpeg': [Buffer.from('ffd8ff', 'hex')],
  'application/pdf': [Buffer.from('%PDF-')],
  // In both byte orders, with microseconds or nanoseconds, and pcapng.
  'application/vnd.tcpdump.pcap': ['d4c3b2a1', 'a1b2c3d4', '4d3cb2a1', 'a1b23c4d', '0a0d0d0a'].map((hex) =>
    Buffer.from(hex, 'hex'),
  ),
} as const;

const EXTENSIONS = {
  'image/png': 'png',
  'image/jpeg': 'jpg',
  'application/pdf': 'pdf',
  'application/vnd.tcpdump.pcap': 'pcap',
  'message/rfc822': 'eml',
  'text/plain': 'txt',
} as const;
type FileType = keyof typeof EXTENSIONS;

/**
 * Returns the type by the content: the name and the header of a request are not trusted. Fails with
 * `invalid_value` on an empty or too large file, and on other types.
 */
export function recognizeFile<Type extends FileType>(
  content: Buffer,
  { types, maxBytes, refusal }: { types: readonly Type[]; maxBytes: number; refusal: string },
): Type {
  if (content.length === 0) fail('invalid_value', { field: 'file' }, 'Choose a file that is not empty.');
  if (content.length > maxBytes) {
    const limit = `Send at most ${maxBytes / 1024} KiB.`;
    fail('invalid_value', { field: 'file' }, `The file is too large. ${limit}`);
  }
  return types.find((type) => isOfType(content, type)) ?? fail('invalid_value', { field: 'file' }, refusal);
}

function isOfType(content: Buffer, type: FileType): boolean {
  if (type === 'text/plain') return isText(content);
  if (type === 'message/rfc822') return isMail(content);
  return MAGIC[type].some((magic) => content.subarray(0, magic.length).equals(magic));
}

const HEAD_MAX_BYTES = 64 * 1024;
const HEADER_LINE = /^(?:[!-9;-~]+:.*|[ \t].*|From .*)$/s;

/** A saved mail begins with headers, two of which every mail has. Its text may be in any encoding. */
function isMail(content: Buffer): boolean {
  if (content.includes(0)) return false;
  const [head = ''] = content.toString('latin1', 0, HEAD_MAX_BYTES).split(/\r?\n\r?\n/, 1);
  const lines = head.split(/\r?\n/);
  const has = (name: RegExp) => lines.some((line) => name.test(line));
  return lines.every((line) => HEADER_LINE.test(line)) && has(/^from:/i) && has(/^(?:date|received):/i);
}

function isText(content: Buffer): boolean {
  try {
    const text = new TextDecoder('utf-8', { fatal: true }).decode(content);
    return !/[^\P{Cc}\r\n\t\f]/u.test(text);
  } catch {
    return false;
  }
}

/** Returns a name for a header and a disk, with the ending of its type. */
export function cleanFileName(wanted: string, type: FileType, maxChars: number): string {
  const ending = `.${EXTENSIONS[type]}`;
  const base = wanted
    .replace(/\.(?:png|jpe?g|txt|log|pdf|pcap(?:ng)?|eml)$/i, '')
    .replace(/[^\p{L}\p{N}._-]+/gu, '-')
    .replace(/^[.-]+/, '');
  return `${base.slice(0, maxChars - ending.length) || 'file'}${ending}`;
}
