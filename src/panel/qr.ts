/** QR codes of payments, as SVG that is made a picture before anybody sees it. Black on white in the dark too: not every reader takes the reverse. */
import { encode } from 'uqr';

/** Four modules of quiet around the code, as its standard asks. */
const QUIET_MODULES = 4;
/** A picture is about so wide; a module is always a whole number of pixels. */
const TARGET_PX = 280;
const MODULE_MIN_PX = 3;
/** Far above any payment's address, far below what a phone reads. */
const TEXT_MAX_BYTES = 600;

export interface QrCode {
  readonly svg: string;
  /** As wide as high. */
  readonly sidePx: number;
}

export function qrCode(text: string): QrCode {
  const bytes = Buffer.byteLength(text);
  if (bytes > TEXT_MAX_BYTES) throw new RangeError(`a QR code of ${bytes} bytes, at most ${TEXT_MAX_BYTES}`);
  const { data, size } = encode(text, { ecc: 'M', border: QUIET_MODULES });
  const modulePx = Math.max(MODULE_MIN_PX, Math.floor(TARGET_PX / size));
  const sidePx = size * modulePx;
  return {
    sidePx,
    svg: `<svg xmlns="http://www.w3.org/2000/svg" width="${sidePx}" height="${sidePx}" viewBox="0 0 ${size} ${size}" shape-rendering="crispEdges">
<path d="M0,0h${size}v${size}h-${size}z" fill="#fff"/>
<path d="${data.map(darkRuns).join('')}" fill="#000"/>
</svg>`,
  };
}

/** The dark stretches of a row as rectangles one module high. */
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
