/** The worker thread of png-renderer.ts. */
import { createRequire } from 'node:module';

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

export default ({ svg, scale }: { readonly svg: string; readonly scale: number }): Uint8Array => {
  const options = JSON.stringify({ font, fitTo: { mode: 'zoom', value: scale } });
  return new Resvg(svg, options).render().asPng();
};
