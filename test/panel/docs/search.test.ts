import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { changelogView, PLACEHOLDER_BASE_URL } from '../../../src/panel/docs/docs.ts';
import { codeBlock } from '../../../src/panel/docs/highlight.ts';
import { buildIndex } from '../../../src/panel/docs/index.ts';
import { markdown } from '../../../src/panel/docs/markdown.ts';
import { searchView } from '../../../src/panel/docs/search.ts';
import { cleanQuery } from '../../../src/panel/parts/search-form.ts';
import { codeText } from '../../docs/docs-content.ts';
import { startWorld, type World } from '../../support/world.ts';

const PAGE_MAX_BYTES = 60_000;

let world: World;
before(async () => {
  world = await startWorld();
});
after(() => world.close());

async function fetchText(path: string): Promise<string> {
  return await (await fetch(world.url + path)).text();
}

describe('the search of the docs', () => {
  const search = async (query: string) => {
    const response = await fetch(`${world.url}/docs/search?${new URLSearchParams({ q: query })}`);
    assert.equal(response.status, 200);
    const text = await response.text();
    assert.ok(Buffer.byteLength(text) < PAGE_MAX_BYTES);
    return text;
  };
  const results = (text: string) => {
    const list = /<ol class="results">[\s\S]*<\/ol>/.exec(text)?.[0] ?? '';
    return [...list.matchAll(/<li><a href="([^"]+)">/g)].map(([, href]) => href ?? '');
  };

  it('finds sections of guides, of the API reference, and of the changelog', async () => {
    assert.ok(results(await search('HMAC signature'))[0]?.startsWith('/docs/guides/webhooks#'));
    assert.equal(results(await search('attach a volume'))[0], '/docs/api/volumes#volumes.attach');
    assert.equal(results(await search('idempotency'))[0], '/docs/api/rules#idempotency');
    assert.ok(results(await search('pool remaining')).some((href) => href.startsWith('/docs/changelog#')));
  });

  it('links to anchors that exist, and marks the matched words', async () => {
    const text = await search('server');
    assert.equal(results(text).length, 20, 'the list is bounded');
    for (const href of results(text)) {
      const [path = '', anchor] = href.split('#');
      const target = await fetchText(path);
      assert.ok(anchor === undefined || target.includes(`id="${anchor}"`), href);
    }
    assert.match(text, /<mark>servers?<\/mark>/i);
  });

  it('tolerates a typo and the beginning of a word', async () => {
    assert.ok(results(await search('idempotensy')).includes('/docs/api/rules#idempotency'));
    assert.ok(results(await search('idempot')).includes('/docs/api/rules#idempotency'));
  });

  it('escapes the query', async () => {
    const text = await search('"><script>alert(1)</script>');
    assert.ok(!text.includes('<script>alert'));
    assert.ok(text.includes('value="&#34;&#62;&#60;script&#62;alert(1)&#60;/script&#62;"'));
  });

  it('escapes indexed text in excerpts', () => {
    const view = changelogView('# Log\n\n## First\n\n<img src=x onerror=alert(1)> quokka `<b>` &lt;i&gt;\n');
    const index = buildIndex([view]);
    const { body } = searchView('quokka', index.search('quokka', 'https://cloud.example'));
    assert.match(
      body.text,
      /&#60;img src=x onerror=alert\(1\)&#62; <mark>quokka<\/mark> &#60;b&#62; &#60;i&#62;/,
    );
  });

  it('shows the base URL of the reader in excerpts', () => {
    const view = changelogView(`# Log\n\n## First\n\nOpen ${PLACEHOLDER_BASE_URL}/quokka now.\n`);
    const [found] = buildIndex([view]).search('quokka', 'https://cloud.example');
    const text = found?.excerpt.map((part) => part.text).join('');
    assert.equal(text, 'Open https://cloud.example/quokka now.');
  });

  it('separates the cells of a table in excerpts', async () => {
    assert.match(await search('ledger entry object'), /amount_usd · number · US dollars/);
  });

  it('cuts long queries', async () => {
    assert.equal(cleanQuery(`  ${'a'.repeat(500)}  `).length, 100);
    assert.equal(cleanQuery(' a \n\t b '), 'a b');
    const text = await search('word '.repeat(1_000));
    assert.equal(/<input type="search"[^>]* value="([^"]*)"/.exec(text)?.[1]?.length, 99);
    for (const query of ['a '.repeat(50), '\u0000', '(((', '\u{1F600}'.repeat(100), '%', '*'])
      await search(query);
  });

  it('says what to do if nothing matches', async () => {
    const text = await search('xyzzyplugh');
    assert.deepEqual(results(text), []);
    assert.match(text, /No results for “xyzzyplugh”\.[\s\S]*Check the spelling/);
  });

  it('explains itself without a query', async () => {
    for (const query of ['', '   '])
      assert.match(await search(query), /<h1>Search the docs<\/h1>[\s\S]*Try “refund”/);
    const repeated = await fetch(`${world.url}/docs/search?q=a&q=b`);
    assert.match(await repeated.text(), /<h1>Search the docs<\/h1>/);
  });
});

describe('highlighted code', () => {
  const HOSTILE =
    `x = "</code><script>alert(1)</script>" # <img src=x onerror=alert(1)> ` + `&lt; &amp;quot; \${y} 'z'`;

  it('keeps hostile code as text, in every language', () => {
    for (const language of [
      'sh',
      'js',
      'ts',
      'python',
      'go',
      'json',
      'yaml',
      'http',
      'sql',
      'ini',
      '',
      'constructor',
    ]) {
      const { text } = codeBlock(HOSTILE, { language });
      assert.deepEqual(text.replace(/<i class=h[a-z]>|<\/i>/g, '').match(/<[^>]*>/g)?.length, 4, language);
      assert.equal(codeText(text), HOSTILE, language);
      const page = markdown(`\`\`\`${language}\n${HOSTILE}\n\`\`\`\n`).body.text;
      assert.equal(codeText(page), `${HOSTILE}\n`, language);
      assert.ok(!/<(?:script|img)/.test(page), language);
    }
  });

  it('has colors on the pages, and a copy button for code that readers run', async () => {
    const guide = await fetchText('/docs/guides/sdk');
    assert.match(guide, /<pre class="code"><code tabindex="0" data-copy><i class=hk>import<\/i>/);
    assert.match(await fetchText('/docs/api/volumes'), /<code tabindex="0">\{\n {2}<i class=ha>"id"<\/i>/);
  });

  it('ignores a language that tries to leave its attribute', () => {
    const { text } = markdown('```sh" onclick="alert(1)\nls\n```\n').body;
    assert.ok(!text.includes('onclick'));
  });
});
