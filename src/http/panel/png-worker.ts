/** The worker thread of png-renderer.ts: renders pictures one after another. */
import { createRequire } from 'node:module';
import { parentPort } from 'node:worker_threads';

/** The used part of the platform packages, which come without types. */
interface Resvg {
  readonly Resvg: new (svg: string, optionsJson: string) => { render(): { asPng(): Buffer } };
}

const require = createRequire(import.meta.url);
const { Resvg } = require(`@resvg/resvg-js-linux-${process.arch}-gnu`) as Resvg;
const font = {
  // System fonts would make pictures differ between machines, and scanning them is slow.
  loadSystemFonts: false,
  fontFiles: [require.resolve('dejavu-fonts-ttf/ttf/DejaVuSans.ttf')],
  defaultFontFamily: 'DejaVu Sans',
};

parentPort?.on('message', ({ svg, scale }: { svg: string; scale: number }) => {
  try {
    const options = JSON.stringify({ font, fitTo: { mode: 'zoom', value: scale } });
    parentPort?.postMessage({ png: new Resvg(svg, options).render().asPng() });
  } catch {
    // Omit the error message: it may repeat the content of the picture.
    parentPort?.postMessage({ png: null });
  }
});
