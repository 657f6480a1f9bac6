import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { it } from 'node:test';
import { sdkTypes } from '../../scripts/sdk-types.ts';

const read = (path: string) => readFileSync(new URL(`../../${path}`, import.meta.url), 'utf8');

it('the types of the SDK match the OpenAPI document (`npm run openapi` generates them)', async () => {
  assert.equal(read('packages/sdk/src/schema.ts'), await sdkTypes(read('openapi/v1.json')));
});
