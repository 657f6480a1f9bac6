/** Each operation of the reference is shown in every way there is to call it. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { describe, it } from 'node:test';
import { commandSamples } from '../../scripts/command-samples.ts';
import { openApiText } from '../../src/http/v1/openapi.ts';
import { readReference } from '../../src/panel/reference/reference.ts';
import { resourceView } from '../../src/panel/reference/resource.ts';
import { SAMPLES } from '../../src/panel/reference/samples.ts';
import { extractSample, operationSection } from './docs-content.ts';

const COMMITTED_SAMPLES = readFileSync(new URL('../../openapi/samples.json', import.meta.url), 'utf8');

describe('the samples of the reference', () => {
  it('on the command line are the examples of the commands', () => {
    assert.equal(COMMITTED_SAMPLES, commandSamples(), 'a command changed: run `npm run openapi`');
  });

  it('are there for every operation, in every way of calling it', () => {
    const reference = readReference(JSON.parse(openApiText()), JSON.parse(COMMITTED_SAMPLES));
    const missing = reference.operations.flatMap(({ id, tag }) => {
      const part = operationSection(resourceView(reference, tag, 'https://skerry.example').body.text, id);
      return SAMPLES.filter(({ key }) => extractSample(part, key) === '').map(({ key }) => `${id}: ${key}`);
    });
    assert.deepEqual(missing, []);
  });
});
