import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { PanelPage } from '../../src/http/panel/page-types.ts';
import { PANEL_PAGES } from '../../src/http/panel/pages.ts';
import { ROUTES } from '../../src/http/v1/routes.ts';
import { OPERATIONS } from '../../src/spec/operations.ts';

/** Operations without a page: a stream is only for programs, and a group's rules are saved as a whole. */
const API_ONLY_OPERATIONS = ['events.stream', 'firewall_rules.create', 'firewall_rules.delete'];

function operationsOf({ readOperations = [], forms = {} }: PanelPage): string[] {
  const done = Object.values(forms).map((form) => ('operation' in form ? form.operation : form.rest));
  return [...readOperations, ...done].filter((operation) => operation !== undefined);
}

describe('the operations of the panel', () => {
  const done = new Set(PANEL_PAGES.flatMap(operationsOf));

  it('the panel offers every operation that a customer has in the REST API', () => {
    assert.deepEqual(
      OPERATIONS.filter((operation) => !done.has(operation) && !API_ONLY_OPERATIONS.includes(operation)),
      [],
    );
  });

  it('pages only read, and forms only change', () => {
    const reads = new Set<string>(ROUTES.filter(({ method }) => method === 'GET').map(({ id }) => id));
    for (const { path, readOperations = [], forms = {} } of PANEL_PAGES) {
      for (const operation of readOperations) assert.ok(reads.has(operation), `${path} shows ${operation}`);
      for (const form of Object.values(forms)) {
        // A console ticket is created by a GET request in the API, but by a button in the panel.
        if ('operation' in form) assert.ok(!reads.has(form.operation), `${path} does ${form.operation}`);
      }
    }
  });

  it('every page has its own path', () => {
    const paths = PANEL_PAGES.map(({ path }) => path);
    assert.deepEqual([...new Set(paths)], paths);
  });
});
