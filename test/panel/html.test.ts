import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { html } from '../../src/panel/parts/html.ts';
import { HOSTILE } from './support/hostile.ts';

const MIN_STRINGS = 40;

describe('the template of pages', () => {
  it('a template escapes each sign of hostile text, in an element and in an attribute', () => {
    assert.ok(HOSTILE.length >= MIN_STRINGS, `${HOSTILE.length} strings`);
    for (const typed of HOSTILE) {
      const { text } = html`<p title="${typed}">${typed}</p>`;
      const inner = text.slice('<p title="'.length, -'</p>'.length).split('">');
      assert.equal(inner.length, 2, typed);
      for (const part of inner) {
        assert.doesNotMatch(part, /[<>"'`]/, typed);
        const shown = part.replace(/&#(\d+);/g, (_, code) => String.fromCharCode(Number(code)));
        assert.equal(shown, typed);
      }
    }
  });

  it('a template inserts only its own markup unescaped, also in a list', () => {
    const items = ['<b>', html`<i>${'&'}</i>`, null, false as const, 7n];
    assert.equal(html`<ul>${items}</ul>`.text, '<ul>&#60;b&#62;<i>&#38;</i>7</ul>');
  });
});
