/** Renders rows of text as pixels in the viewer's format. */
import { CELL_HEIGHT, CELL_WIDTH, glyph } from './screen-font.ts';
import { ROWS, type ScreenText } from './screen-text.ts';

/** A little wider than the text. */
export const WIDTH = 640;
export const HEIGHT = ROWS * CELL_HEIGHT;

/** A range of text rows, the unit in which the screen changes. */
export interface RowRange {
  readonly first: number;
  readonly count: number;
}

/** A pixel format as in RFC 6143 section 7.4, without color maps. */
export interface PixelFormat {
  readonly bitsPerPixel: 8 | 16 | 32;
  readonly bigEndian: boolean;
  readonly red: Channel;
  readonly green: Channel;
  readonly blue: Channel;
}

interface Channel {
  readonly max: number;
  readonly shift: number;
}

export const DEFAULT_FORMAT: PixelFormat = {
  bitsPerPixel: 32,
  bigEndian: false,
  red: { max: 255, shift: 16 },
  green: { max: 255, shift: 8 },
  blue: { max: 255, shift: 0 },
};

const LEFT_PIXEL = 1 << (CELL_WIDTH - 1);

type Color = readonly [red: number, green: number, blue: number];
const BACKGROUND: Color = [16, 20, 24];
const FOREGROUND: Color = [214, 218, 210];

/** Encodes a format in its 16 bytes on the wire. */
export function encodePixelFormat(format: PixelFormat): Buffer {
  const { bitsPerPixel, bigEndian, red, green, blue } = format;
  const bytes = Buffer.alloc(16);
  bytes[0] = bitsPerPixel;
  bytes[1] = bitsPerPixel === 32 ? 24 : bitsPerPixel;
  bytes[2] = bigEndian ? 1 : 0;
  bytes[3] = 1;
  [red, green, blue].forEach(({ max, shift }, index) => {
    bytes.writeUInt16BE(max, 4 + 2 * index);
    bytes[10 + index] = shift;
  });
  return bytes;
}

/** Returns undefined for an unsupported format: a color map, or channels that do not fit. */
export function parsePixelFormat(bytes: Buffer): PixelFormat | undefined {
  const bitsPerPixel = bytes.readUInt8(0);
  if (bitsPerPixel !== 8 && bitsPerPixel !== 16 && bitsPerPixel !== 32) return undefined;
  if (bytes.readUInt8(3) === 0) return undefined;
  const channel = (index: number): Channel => ({
    max: bytes.readUInt16BE(4 + 2 * index),
    shift: bytes.readUInt8(10 + index),
  });
  const [red, green, blue] = [channel(0), channel(1), channel(2)];
  const isRepresentable = [red, green, blue].every(({ max, shift }) => max * 2 ** shift < 2 ** bitsPerPixel);
  return isRepresentable
    ? { bitsPerPixel, bigEndian: bytes.readUInt8(2) !== 0, red, green, blue }
    : undefined;
}

/** Returns the pixels of these rows over the whole width. */
export function drawRows(text: ScreenText, { first, count }: RowRange, format: PixelFormat): Buffer {
  const background = pixel(BACKGROUND, format);
  const foreground = pixel(FOREGROUND, format);
  const bytesPerPixel = background.length;
  const bytes = Buffer.alloc(WIDTH * count * CELL_HEIGHT * bytesPerPixel);
  for (let y = first * CELL_HEIGHT, at = 0; y < (first + count) * CELL_HEIGHT; y += 1) {
    const line = pixelLine(text, y);
    for (let x = 0; x < WIDTH; x += 1, at += bytesPerPixel) {
      const dots = line[Math.floor(x / CELL_WIDTH)] ?? 0;
      const source = dots & (LEFT_PIXEL >> (x % CELL_WIDTH)) ? foreground : background;
      for (let i = 0; i < bytesPerPixel; i += 1) bytes[at + i] = source[i] ?? 0;
    }
  }
  return bytes;
}

/** Returns one line of pixels, as one number per character. */
function pixelLine(text: ScreenText, y: number): number[] {
  const row = text.row(Math.floor(y / CELL_HEIGHT));
  return Array.from(row, (letter) => glyph(letter)[y % CELL_HEIGHT] ?? 0);
}

function pixel(color: Color, { bitsPerPixel, bigEndian, red, green, blue }: PixelFormat): Buffer {
  const value = [red, green, blue].reduce(
    // `<<` would turn a high bit into a sign.
    (sum, { max, shift }, index) => sum + Math.round(((color[index] ?? 0) * max) / 255) * 2 ** shift,
    0,
  );
  const bytes = Buffer.alloc(bitsPerPixel / 8);
  if (bigEndian) bytes.writeUIntBE(value, 0, bytes.length);
  else bytes.writeUIntLE(value, 0, bytes.length);
  return bytes;
}
