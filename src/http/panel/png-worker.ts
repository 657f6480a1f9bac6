/** The thread behind png.ts: draws what it is sent, one after the other. */
import { createRequire } from 'node:module';
import { parentPort } from 'node:worker_threads';

/** Of the packages for one platform each, which come without types: what is used here. */
interface Resvg {
  readonly Resvg: new (svg: string, optionsJson: string) => { render(): { asPng(): Buffer } };
}

const require = createRequire(import.meta.url);
const { Resvg } = require(`@resvg/resvg-js-linux-${process.arch}-gnu`) as Resvg;
const font = {
  // Those of the machine would make pictures differ from one to the next, and take long to look through.
  loadSystemFonts: false,
  fontFiles: [require.resolve('dejavu-fonts-ttf/ttf/DejaVuSans.ttf')],
  defaultFontFamily: 'DejaVu Sans',
};

parentPort?.on('message', ({ svg, scale }: { svg: string; scale: number }) => {
  try {
    const options = JSON.stringify({ font, fitTo: { mode: 'zoom', value: scale } });
    parentPort?.postMessage({ png: new Resvg(svg, options).render().asPng() });
  } catch {
    // What it says may repeat what was to be drawn.
    parentPort?.postMessage({ png: null });
  }
});
