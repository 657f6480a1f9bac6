/** Types of files by their content, and names that a header and a disk can have. */
import { fail } from '../../../kernel/fail.ts';

const MAGIC = {
  'image/png': Buffer.from('89504e470d0a1a0a', 'hex'),
  'image/jpeg': Buffer.from('ffd8ff', 'hex'),
  'application/pdf': Buffer.from('%PDF-'),
} as const;

const EXTENSIONS = {
  'image/png': 'png',
  'image/jpeg': 'jpg',
  'application/pdf': 'pdf',
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
  const magic = MAGIC[type];
  return content.subarray(0, magic.length).equals(magic);
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
    .replace(/\.(?:png|jpe?g|txt|log|pdf)$/i, '')
    .replace(/[^\p{L}\p{N}._-]+/gu, '-')
    .replace(/^[.-]+/, '');
  return `${base.slice(0, maxChars - ending.length) || 'file'}${ending}`;
}
