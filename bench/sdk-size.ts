/** Prints the bundle size of the whole SDK: `node bench/sdk-size.ts`. */
import { sdkSize } from '../test/sdk/bundle.ts';

const { minifiedBytes, gzippedBytes } = sdkSize();
process.stdout.write(`SDK: ${minifiedBytes} bytes minified, ${gzippedBytes} bytes gzipped\n`);
