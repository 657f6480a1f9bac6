/** Writes openapi/v1.json from the routes. A test fails while the two differ. */
import { mkdirSync, writeFileSync } from 'node:fs';
import { openApiText } from '../src/http/v1/openapi.ts';

const FOLDER = new URL('../openapi/', import.meta.url);
mkdirSync(FOLDER, { recursive: true });
writeFileSync(new URL('v1.json', FOLDER), openApiText());
