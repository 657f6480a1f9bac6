import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { PanelPage } from '../../src/http/panel/page-types.ts';
import { PANEL_PAGES } from '../../src/http/panel/pages.ts';
import { ROUTES } from '../../src/http/v1/routes.ts';
import { OPERATIONS } from '../../src/spec/operations.ts';

/** What the panel cannot have: a stream is for programs. */
const API_ONLY_OPERATIONS = ['events.stream'];

function operationsOf({ readOperations = [], forms = {} }: PanelPage): string[] {
  const done = Object.values(forms).map((form) => ('operation' in form ? form.operation : form.rest));
  return [...readOperations, ...done].filter((operation) => operation !== undefined);
}

describe('what the panel can do', () => {
  const done = new Set(PANEL_PAGES.flatMap(operationsOf));

  it('is every operation that a customer has over REST', () => {
    assert.deepEqual(
      OPERATIONS.filter((operation) => !done.has(operation) && !API_ONLY_OPERATIONS.includes(operation)),
      [],
    );
  });

  it('is said rightly: what only reads is shown by a page, what changes something is done by a form', () => {
    const reads = new Set<string>(ROUTES.filter(({ method }) => method === 'GET').map(({ id }) => id));
    for (const { path, readOperations = [], forms = {} } of PANEL_PAGES) {
      for (const operation of readOperations) assert.ok(reads.has(operation), `${path} shows ${operation}`);
      for (const form of Object.values(forms)) {
        // A ticket is made by looking; in a page that is a button.
        if ('operation' in form) assert.ok(!reads.has(form.operation), `${path} does ${form.operation}`);
      }
    }
  });

  it('is at one path each', () => {
    const paths = PANEL_PAGES.map(({ path }) => path);
    assert.deepEqual([...new Set(paths)], paths);
  });
});
