/**
 * Writes openapi/v1.json, the SDK's types, the CLI's contract, and the command samples. A test fails if they
 * are out of date.
 */
import { mkdirSync, writeFileSync } from 'node:fs';
import { openApiText } from '../src/http/v1/openapi/document.ts';
import { cliContract } from './cli-contract.ts';
import { commandSamples } from './command-samples.ts';
import { sdkTypes } from './sdk-types.ts';

const FOLDER = new URL('../openapi/', import.meta.url);
mkdirSync(FOLDER, { recursive: true });
writeFileSync(new URL('v1.json', FOLDER), openApiText());
writeFileSync(new URL('../packages/sdk/src/schema.ts', import.meta.url), await sdkTypes(openApiText()));
writeFileSync(new URL('../packages/cli/contract.json', import.meta.url), cliContract(openApiText()));
writeFileSync(new URL('samples.json', FOLDER), commandSamples());
