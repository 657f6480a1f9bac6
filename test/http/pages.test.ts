import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import fc from 'fast-check';
import { Html, html } from '../../src/panel/parts/html.ts';
import { PANEL_PATHS, topupPath } from '../../src/spec/paths.ts';
import { PROPERTY_RUNS } from '../support/runs.ts';
import { type HttpWorld, startHttpWorld } from './http-world.ts';

/** A visitor who only reads gets no cookie. */
const WITHOUT_FORMS = [PANEL_PATHS.home, PANEL_PATHS.status, PANEL_PATHS.terms, PANEL_PATHS.contact];

/** Until the operator turns them on. */
const OFF: readonly string[] = [PANEL_PATHS.abuse, PANEL_PATHS.transparency];

describe('the html template', () => {
  it('a template escapes every value in text and in attributes', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), (text) => {
        const printed = html`<a title="${text}">${[text, null, undefined, false]}</a>`.text;
        const inner = printed.slice('<a title="'.length, -'</a>'.length);
        assert.ok(!/[<'`]/.test(inner) && inner.split('"').length === 2 && inner.split('>').length === 2);
      }),
      { numRuns: PROPERTY_RUNS * 10 },
    );
    assert.equal(html`${'<b> & "c"'}`.text, '&#60;b&#62; &#38; &#34;c&#34;');
  });

  it('a template leaves its own output and lists of it unchanged', () => {
    assert.equal(
      html`<ul>${['a', '<'].map((item) => html`<li>${item}</li>`)}</ul>`.text,
      '<ul><li>a</li><li>&#60;</li></ul>',
    );
    assert.equal(html`${0}${7n}${new Html('<hr>')}`.text, '07<hr>');
  });
});

describe('the pages of the panel', () => {
  let world: HttpWorld;
  before(async () => {
    world = await startHttpWorld({ settings: { baseUrl: 'https://skerry.example/' } });
  });
  after(() => world.close());

  it('every path in a redirect or top-up link has a page, or asks to sign in and returns', async () => {
    const shown = Object.values(PANEL_PATHS).filter((path) => !OFF.includes(path));
    for (const path of [...shown, topupPath('12.34'), '/servers/4711']) {
      const visitor = world.visitor();
      let answer = await visitor.get(path);
      if (answer.status === 303) {
        const where = answer.headers.get('location') ?? '';
        assert.equal(where, `/signin?${new URLSearchParams({ next: path })}`);
        answer = await visitor.get(where);
      }
      assert.equal(answer.status, 200, path);
      assert.match(answer.headers.get('content-type') ?? '', /^text\/html; charset=utf-8$/);
      assert.match(answer.text, /^<!doctype html>/);
      assert.match(answer.text, /<h1>[^<]+<\/h1>/);
    }
  });

  it('a page that the operator did not turn on does not exist', async () => {
    for (const path of OFF) assert.equal((await world.visitor().get(path)).status, 404, path);
  });

  it('no page has inline scripts or loads from other sites, and the policy blocks both', async () => {
    for (const path of WITHOUT_FORMS) {
      const { text, headers } = await world.visitor().get(path);
      assert.ok(!/<script>|<style|<iframe|\s(?:on\w+|style)=|javascript:/i.test(text), path);
      assert.ok(
        !/(?:src|href)="(?!\/(?!\/)|#|\?|mailto:)[^"]*"[^>]*>/.test(text.replace(/<a [^>]*>/g, '')),
        path,
      );
      const policy = headers.get('content-security-policy') ?? '';
      assert.ok(policy.startsWith(`default-src 'none'; style-src 'self'; script-src 'self'`));
      assert.match(policy, /frame-ancestors 'none'/);
      assert.equal(headers.get('x-content-type-options'), 'nosniff');
      assert.equal(headers.get('x-frame-options'), 'DENY');
      assert.equal(headers.get('referrer-policy'), 'same-origin');
      assert.deepEqual(headers.getSetCookie(), []);
    }
  });

  it('the home page says what the service is and how to start', async () => {
    const { text } = await world.visitor().get('/');
    assert.match(text, /rents virtual and dedicated servers/);
    assert.match(text, /curl -s -c jar https:\/\/skerry\.example\/csrf\.php/);
  });

  it('no page repeats a request', async () => {
    const { text } = await world.visitor().get('/topup?amount=%3Cscript%3E', { host: 'evil"><b>' });
    assert.ok(!/<script>|evil/.test(text));
  });
});
