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

/** Fields whose text is kept and shown again. */
const KEPT = new Set(['name', 'note', 'tags', 'labels', 'filesystem', 'version', 'variant', 'url']);

type Attempt = readonly [names: readonly string[], typed: string];

describe(`what is typed into the panel (rotation ${ROTATION})`, () => {
  let world: World;
  let inside: PanelClient;
  let outside: PanelClient;
  let examples: readonly Example[];
  /** Addresses of pages that show what was kept. */
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

  /** One form with the string in one of its fields, or in all of them; what went wrong, or null. */
  async function tryForm(page: PanelResponse, client: PanelClient, form: PageForm, [names, typed]: Attempt) {
    // Not a second click on the same form, but another rendering of it.
    const fields = { _once: randomUUID(), ...Object.fromEntries(names.map((name) => [name, typed])) };
    const answer = await client.submit(page, form.name, fields, form.key === null ? {} : { key: form.key });
    if (answer.status >= 500) return `${answer.status}`;
    const broken = findInjection(answer.text, typed);
    if (broken !== null || answer.location === null) return broken;
    assert.ok(answer.location.startsWith('/'), 'it leads elsewhere on this site');
    const next = await client.followRedirects(answer);
    if (next.status >= 400) return `leads to ${next.status}`;
    const kept = names.some((name) => KEPT.has(name));
    if (kept) shown.add(next.path.split('?')[0] ?? '');
    if (kept && !isShown(next.text, typed)) return 'is kept, and not shown as it was typed';
    return findInjection(next.text, typed);
  }

  it('comes back as text, or is refused beside its field, in every form of every page', async () => {
    const found: string[] = [];
    for (const example of examples) {
      const client = example.visitor ? outside : inside;
      const page = await client.get(example.path);
      for (const form of formsOf(page.text).filter(
        ({ name, textFields }) => name !== 'sign_out' && textFields.length > 0,
      )) {
        const sets = IS_FULL_RUN
          ? [form.textFields, ...form.textFields.map((name) => [name])]
          : [form.textFields];
        for (const typed of STRINGS) {
          for (const names of sets) {
            const fault = await tryForm(page, client, form, [names, typed]).catch(String);
            if (fault !== null)
              found.push(
                `${example.path} ${form.name} ${names.join('+')} ${JSON.stringify(typed.slice(0, 40))}: ${fault}`,
              );
          }
        }
      }
    }
    assert.deepEqual(found, []);
  });

  it('comes back as text in an address, too', async () => {
    const found: string[] = [];
    for (const example of examples) {
      const client = example.visitor ? outside : inside;
      const [path = ''] = example.path.split('?');
      const names = queryNames((await client.get(example.path)).text);
      for (const typed of STRINGS.filter((text) => text.length < 10_000)) {
        const query = new URLSearchParams(
          names.map((name): [string, string] => [name, asSubmitted(typed)]),
        ).toString();
        const answer = await client.get(`${path}?${query}`);
        const fault = answer.status >= 500 ? `${answer.status}` : findInjection(answer.text, typed);
        if (fault !== null) found.push(`${path} ${JSON.stringify(typed.slice(0, 40))}: ${fault}`);
      }
    }
    assert.deepEqual(found, []);
  });

  it('runs nothing and asks for nothing elsewhere in a browser', {
    skip: NO_CHROMIUM || FULL_ONLY.skip,
  }, async () => {
    const onlooker = await PageBrowser.start(world.url, inside.cookie);
    const found: string[] = [];
    for (const path of [...shown, ...examples.map(({ path }) => path)]) {
      const { page } = await onlooker.open({ path, visitor: false });
      page.on('dialog', (dialog) => {
        found.push(`${path}: ${dialog.message()}`);
        void dialog.dismiss();
      });
      page.removeAllListeners('dialog');
      found.push(
        ...pageErrors(page)
          .slice(found.length)
          .map((complaint) => `${path}: ${complaint}`),
      );
    }
    await onlooker.close();
    assert.deepEqual(found, []);
  });
});

/** What the page may be asked by its address: the filters that stand on it, and what any page knows. */
function queryNames(page: string): string[] {
  const names = [...page.matchAll(/<(?:input|select)[^>]* name="([a-z]\w*)"/g)].map(([, name = '']) => name);
  return [...new Set([...names, 'done', 'still', 'cursor', 'next', 'token', 'amount', 'month', 'days'])];
}
