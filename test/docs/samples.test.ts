/** The API reference has a sample of every operation in every language. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { describe, it } from 'node:test';
import { commandSamples } from '../../scripts/command-samples.ts';
import { openApiText } from '../../src/http/v1/openapi/document.ts';
import { readReference } from '../../src/panel/docs/reference/reference.ts';
import { resourceView } from '../../src/panel/docs/reference/resource.ts';
import { SAMPLES } from '../../src/panel/docs/reference/samples.ts';
import { extractSample, operationSection } from './docs-content.ts';

const COMMITTED_SAMPLES = readFileSync(new URL('../../openapi/samples.json', import.meta.url), 'utf8');

describe('the samples of the reference', () => {
  it('use the example commands of the CLI', () => {
    assert.equal(COMMITTED_SAMPLES, commandSamples(), 'a command changed; run `npm run openapi`');
  });

  it('exist for every operation in every language', () => {
    const reference = readReference(JSON.parse(openApiText()), JSON.parse(COMMITTED_SAMPLES));
    const missing = reference.operations.flatMap(({ id, tag }) => {
      const part = operationSection(resourceView(reference, tag, 'https://skerry.example').body.text, id);
      return SAMPLES.filter(({ key }) => extractSample(part, key) === '').map(({ key }) => `${id}: ${key}`);
    });
    assert.deepEqual(missing, []);
  });
});
