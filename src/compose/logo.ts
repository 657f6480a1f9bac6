/** The operator's logo: a PNG, WebP, or SVG picture of limited size, whose shape is read from its content. */
import type { Logo } from '../http/settings.ts';
import { OperatorError } from '../kernel/operator-error.ts';

export const LOGO_MAX_BYTES = 64 * 1024;
/** The masthead has room for a logo this wide at its height. */
const RATIO_MAX = 8;

interface Size {
  readonly width: number;
  readonly height: number;
}

const TYPES: readonly {
  readonly extension: Logo['extension'];
  readonly type: string;
  /** Undefined: the bytes are of another type, or damaged. */
  readonly sizeOf: (bytes: Buffer) => Size | undefined;
}[] = [
  { extension: 'png', type: 'image/png', sizeOf: pngSize },
  { extension: 'webp', type: 'image/webp', sizeOf: webpSize },
  { extension: 'svg', type: 'image/svg+xml', sizeOf: svgSize },
];

/** `bytes` is null if the file is missing or too large. */
export function readLogo(bytes: Buffer | null): Logo {
  if (bytes === null || bytes.length === 0)
    reject(`not a readable file of 1 byte to ${LOGO_MAX_BYTES / 1024} KiB; fix the path, or unset it`);
  for (const { extension, type, sizeOf } of TYPES) {
    const size = sizeOf(bytes);
    if (size === undefined) continue;
    const { width, height } = size;
    if (!(width > 0 && height > 0 && width <= height * RATIO_MAX && height <= width * RATIO_MAX))
      reject(`its sides must be above 0, and the longer one at most ${RATIO_MAX} times the other`);
    if (extension === 'svg') requirePlainSvg(bytes.toString('utf8'));
    return { bytes, extension, type, width, height };
  }
  return reject('must be a PNG, WebP, or SVG picture; an SVG needs width and height, or a viewBox');
}

function reject(rule: string): never {
  throw new OperatorError(`SKERRY_LOGO_FILE: ${rule}`);
}

function pngSize(bytes: Buffer): Size | undefined {
  const isPng = bytes.length >= 24 && bytes.subarray(0, 8).toString('latin1') === '\x89PNG\r\n\x1a\n';
  return isPng ? { width: bytes.readUInt32BE(16), height: bytes.readUInt32BE(20) } : undefined;
}

function webpSize(bytes: Buffer): Size | undefined {
  const textAt = (start: number) => bytes.toString('latin1', start, start + 4);
  if (bytes.length < 30 || textAt(0) !== 'RIFF' || textAt(8) !== 'WEBP') return undefined;
  switch (textAt(12)) {
    case 'VP8 ':
      return { width: bytes.readUInt16LE(26) & 0x3fff, height: bytes.readUInt16LE(28) & 0x3fff };
    case 'VP8L': {
      const bits = bytes.readUInt32LE(21);
      return { width: (bits & 0x3fff) + 1, height: ((bits >>> 14) & 0x3fff) + 1 };
    }
    case 'VP8X':
      return { width: bytes.readUIntLE(24, 3) + 1, height: bytes.readUIntLE(27, 3) + 1 };
    default:
      return undefined;
  }
}

function svgSize(bytes: Buffer): Size | undefined {
  const [tag] = /<svg\b[^>]*>/i.exec(bytes.toString('utf8')) ?? [];
  if (tag === undefined) return undefined;
  const length = (name: string) =>
    Number(new RegExp(`\\s${name}\\s*=\\s*["']\\s*(\\d+(?:\\.\\d+)?)(?:px)?\\s*["']`).exec(tag)?.[1]);
  const [width, height] = [length('width'), length('height')];
  if (width > 0 && height > 0) return { width, height };
  const [, , , boxWidth, boxHeight] =
    /\sviewBox\s*=\s*["']\s*([-\d.]+)[\s,]+([-\d.]+)[\s,]+([\d.]+)[\s,]+([\d.]+)\s*["']/.exec(tag) ?? [];
  return boxWidth && boxHeight ? { width: Number(boxWidth), height: Number(boxHeight) } : undefined;
}

/** Browsers run nothing in an SVG that is a picture, but do when someone opens its address. */
function requirePlainSvg(text: string): void {
  const isActive = /<\s*(?:script|foreignObject|iframe|!ENTITY)|\son\w+\s*=|javascript:/i.test(text);
  const hasLinks = /(?:href|src)\s*=\s*["']\s*(?!#|data:image\/)|url\(\s*["']?\s*(?!#|data:image\/)/i.test(
    text,
  );
  if (isActive || hasLinks)
    reject('an SVG must be a plain drawing: without scripts, event handlers, entities, and links');
}
