/** QR codes of payments, as SVG to render as PNG. Black on white in dark mode too: some readers need that. */
import { encode } from 'uqr';

/** The quiet zone that the QR standard requires. */
const QUIET_MODULES = 4;
/** The approximate width of a picture; a module is always a whole number of pixels. */
const TARGET_PX = 280;
const MODULE_MIN_PX = 3;
/** Longer than any payment URI, and short enough for phone cameras. */
const TEXT_MAX_BYTES = 600;

interface QrCode {
  readonly svg: string;
  /** Width and height. */
  readonly sidePx: number;
}

export function qrCode(text: string): QrCode {
  const bytes = Buffer.byteLength(text);
  if (bytes > TEXT_MAX_BYTES)
    throw new RangeError(`QR code text has ${bytes} bytes; at most ${TEXT_MAX_BYTES} are supported`);
  const { data, size } = encode(text, { ecc: 'M', border: QUIET_MODULES });
  const modulePx = Math.max(MODULE_MIN_PX, Math.floor(TARGET_PX / size));
  const sidePx = size * modulePx;
  return {
    sidePx,
    svg: `<svg xmlns="http://www.w3.org/2000/svg" width="${sidePx}" height="${sidePx}"
viewBox="0 0 ${size} ${size}" shape-rendering="crispEdges">
<path d="M0,0h${size}v${size}h-${size}z" fill="#fff"/>
<path d="${data.map(darkRuns).join('')}" fill="#000"/>
</svg>`,
  };
}

/** Returns the dark runs of a row as rectangles, one module high. */
function darkRuns(row: readonly boolean[], y: number): string {
  const runs: string[] = [];
  for (let x = 0; x < row.length; ) {
    let end = x;
    while (row[end] === true) end += 1;
    if (end > x) runs.push(`M${x},${y}h${end - x}v1h-${end - x}z`);
    x = end + 1;
  }
  return runs.join('');
}
