/** Writes openapi/v1.json from the routes, the SDK's types from that, and the commands' samples. A test fails while they differ. */
import { mkdirSync, writeFileSync } from 'node:fs';
import { openApiText } from '../src/http/v1/openapi.ts';
import { commandSamples } from './command-samples.ts';
import { sdkTypes } from './sdk-types.ts';

const FOLDER = new URL('../openapi/', import.meta.url);
mkdirSync(FOLDER, { recursive: true });
writeFileSync(new URL('v1.json', FOLDER), openApiText());
writeFileSync(new URL('../packages/sdk/src/schema.ts', import.meta.url), await sdkTypes(openApiText()));
writeFileSync(new URL('samples.json', FOLDER), commandSamples());
