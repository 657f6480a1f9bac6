import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { after, before, describe, it } from 'node:test';
import { NO_CHROMIUM, pageErrors } from '../support/chromium.ts';
import { PanelClient, type PanelResponse } from '../support/panel-client.ts';
import { formsOf, type PageForm } from '../support/panel-html.ts';
import { FULL_ONLY, IS_FULL_RUN, ROTATION, rotate } from '../support/runs.ts';
import { startWorld, type World } from '../support/world.ts';
import { type Example, examplesOf, plainExamples } from './support/examples.ts';
import { asSubmitted, findInjection, HOSTILE, isShown } from './support/hostile.ts';
import { PageBrowser } from './support/page-checks.ts';
import { startPanelWorld } from './support/world.ts';

const STRINGS = rotate(HOSTILE, { sample: 13, full: 4, soak: 1 });
const PATHS = new Set(['/keys', '/volumes', '/firewall', '/webhooks', '/servers/new', '/topup', '/signup']);

/** Fields whose text is stored and shown again. */
const KEPT = new Set(['name', 'note', 'tags', 'labels', 'filesystem', 'version', 'variant', 'url']);

type Attempt = readonly [names: readonly string[], typed: string];

describe(`hostile input in the panel (rotation ${ROTATION})`, () => {
  let world: World;
  let inside: PanelClient;
  let outside: PanelClient;
  let examples: readonly Example[];
  /** Pages that show stored text. */
  const shown = new Set<string>();
  before(async () => {
    if (IS_FULL_RUN) {
      const whole = await startPanelWorld();
      world = whole;
      [inside, examples] = [whole.panel, examplesOf(whole)];
    } else {
      world = await startWorld();
      examples = plainExamples().filter(({ path }) => PATHS.has(path));
      inside = PanelClient.forUrl(world.url, { cookie: (await world.customer()).cookie });
    }
    outside = PanelClient.forUrl(world.url);
  });
  after(() => world?.close());

  /** Submits one form with the string in the given fields. Returns the fault, or null. */
  async function tryForm(page: PanelResponse, client: PanelClient, form: PageForm, [names, typed]: Attempt) {
    // A new key: this is another rendering, not a second click on the same form.
    const fields = { _once: randomUUID(), ...Object.fromEntries(names.map((name) => [name, typed])) };
    const response = await client.submit(page, form.name, fields, form.key === null ? {} : { key: form.key });
    if (response.status >= 500) return `${response.status}`;
    const broken = findInjection(response.text, typed);
    if (broken !== null || response.location === null) return broken;
    assert.ok(response.location.startsWith('/'), 'the form leads to a page of this site');
    const next = await client.followRedirects(response);
    if (next.status >= 400) return `leads to ${next.status}`;
    const kept = names.some((name) => KEPT.has(name));
    if (kept) shown.add(next.path.split('?')[0] ?? '');
    if (kept && !isShown(next.text, typed)) return 'stored, but not shown as submitted';
    return findInjection(next.text, typed);
  }

  it('hostile text in any form is escaped or rejected on its field', async () => {
    const found: string[] = [];
    for (const example of examples) {
      const client = example.visitor ? outside : inside;
      const page = await client.get(example.path);
      for (const form of formsOf(page.text).filter(
        ({ name, textFields }) => name !== 'sign_out' && textFields.length > 0,
      )) {
        const sets = [form.textFields];
        if (IS_FULL_RUN) sets.push(...form.textFields.map((name) => [name]));
        for (const typed of STRINGS) {
          for (const names of sets) {
            const fault = await tryForm(page, client, form, [names, typed]).catch(String);
            if (fault === null) continue;
            const input = `${names.join('+')} ${JSON.stringify(typed.slice(0, 40))}`;
            found.push(`${example.path} ${form.name} ${input}: ${fault}`);
          }
        }
      }
    }
    assert.deepEqual(found, []);
  });

  it('hostile text in a URL is escaped', async () => {
    const found: string[] = [];
    for (const example of examples) {
      const client = example.visitor ? outside : inside;
      const [path = ''] = example.path.split('?');
      const names = queryNames((await client.get(example.path)).text);
      for (const typed of STRINGS.filter((text) => text.length < 10_000)) {
        const query = new URLSearchParams(
          names.map((name): [string, string] => [name, asSubmitted(typed)]),
        ).toString();
        const response = await client.get(`${path}?${query}`);
        const fault = response.status >= 500 ? `${response.status}` : findInjection(response.text, typed);
        if (fault !== null) found.push(`${path} ${JSON.stringify(typed.slice(0, 40))}: ${fault}`);
      }
    }
    assert.deepEqual(found, []);
  });

  it('hostile text runs nothing and loads nothing from other sites in a browser', {
    skip: NO_CHROMIUM || FULL_ONLY.skip,
  }, async () => {
    const browser = await PageBrowser.start(world.url, inside.cookie);
    const found: string[] = [];
    for (const path of [...shown, ...examples.map(({ path }) => path)]) {
      const { page } = await browser.open({ path, visitor: false });
      page.on('dialog', (dialog) => {
        found.push(`${path}: ${dialog.message()}`);
        void dialog.dismiss();
      });
      page.removeAllListeners('dialog');
      found.push(
        ...pageErrors(page)
          .slice(found.length)
          .map((message) => `${path}: ${message}`),
      );
    }
    await browser.close();
    assert.deepEqual(found, []);
  });
});

/** Returns the query parameters of a page: its filters, and those that every page accepts. */
function queryNames(page: string): string[] {
  const names = [...page.matchAll(/<(?:input|select)[^>]* name="([a-z]\w*)"/g)].map(([, name = '']) => name);
  return [...new Set([...names, 'done', 'still', 'cursor', 'next', 'token', 'amount', 'month', 'days'])];
}
