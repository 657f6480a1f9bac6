/** Prints how large the SDK is for a page that loads all of it: `node bench/sdk-size.ts`. */
import { sdkSize } from '../test/sdk/bundle.ts';

const { minifiedBytes, gzippedBytes } = sdkSize();
process.stdout.write(`the SDK: ${minifiedBytes} bytes minified, ${gzippedBytes} gzipped\n`);
