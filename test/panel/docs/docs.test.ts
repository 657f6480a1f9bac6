import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { promisify } from 'node:util';
import { GUIDES } from '../../../src/panel/docs/docs.ts';
import { COINS, confirmationsNeeded } from '../../../src/spec/coins.ts';
import { EVENT_TYPES } from '../../../src/spec/events.ts';
import { BONUS_TIERS_USD } from '../../../src/spec/limits.ts';
import { OPERATIONS } from '../../../src/spec/operations.ts';
import { codeBlocks, codeText, readGuide } from '../../docs/docs-content.ts';
import { decodeEntities } from '../../support/panel-html.ts';
import { PASSWORD } from '../../support/session-client.ts';
import { startWorld, type World } from '../../support/world.ts';

const PAGE_MAX_BYTES = 60_000;

let world: World;
let folder: string;
let token: string;
/** Every public page that links from the front page lead to, by its path. */
const pages = new Map<string, string>();

before(async () => {
  world = await startWorld({ SKERRY_RATE_CAPACITY: '1000' });
  folder = await mkdtemp(join(tmpdir(), 'skerry-docs-'));
  const customer = await world.customer();
  const fields = { action: 'create_token', name: 'docs', scope: 'billing', current_password: PASSWORD };
  token = String((await customer.post('/account-api.php', fields)).body.token);
});
after(async () => {
  await world.close();
  await rm(folder, { recursive: true });
});

/** Runs commands in the shell of a customer with this token, and returns their output. */
async function type(commands: string): Promise<string> {
  const env = { PATH: process.env.PATH, HOME: folder, SKERRY_TOKEN: token, CURL_HOME: folder };
  const script = `set -eu\ncurl() { command curl -sS --fail-with-body "$@"; }\n${commands}`;
  return (await promisify(execFile)('bash', ['-c', script], { cwd: folder, env })).stdout;
}

describe('the public pages', () => {
  it('contain no broken link, and each stays below the size limit', async () => {
    const waiting = ['/'];
    const asked = new Set(waiting);
    const dead: string[] = [];
    for (let path = waiting.shift(); path !== undefined; path = waiting.shift()) {
      const response = await fetch(world.url + path, { redirect: 'manual' });
      const text = await response.text();
      const asksToSignIn =
        response.status === 303 && response.headers.get('location')?.startsWith('/signin?');
      if (response.status !== 200 && !asksToSignIn) dead.push(`${path}: ${response.status}`);
      if (!response.headers.get('content-type')?.startsWith('text/html')) continue;
      pages.set(path, text);
      assert.ok(Buffer.byteLength(text) < PAGE_MAX_BYTES, `${path}: ${Buffer.byteLength(text)}`);
      for (const [, href = ''] of text.matchAll(/href="(\/[^"]*)"/g)) {
        const target = decodeEntities(href).split('#')[0] ?? '';
        if (!asked.has(target)) waiting.push(target);
        asked.add(target);
      }
    }
    assert.deepEqual(dead, []);
    for (const path of [
      '/docs/api/servers',
      '/docs/guides/payments',
      '/docs/guides/sdk',
      '/docs/changelog',
      '/regions/par',
    ]) {
      assert.ok(pages.has(path), path);
    }
  });

  it('contain the target of every anchor that they link to', () => {
    const missing: string[] = [];
    for (const [path, text] of pages) {
      for (const [, target, anchor] of text.matchAll(/href="([^"#]*)#([^"]+)"/g)) {
        const page = target === '' ? text : pages.get(decodeEntities(target ?? ''));
        if (page && !page.includes(`id="${anchor}"`)) missing.push(`${path}: ${target}#${anchor}`);
      }
    }
    assert.deepEqual(missing, []);
  });

  it('use every id once', () => {
    for (const [path, text] of pages) {
      const ids = [...text.matchAll(/ id="([^"]+)"/g)].map(([, id]) => id);
      assert.deepEqual([...new Set(ids)], ids, path);
    }
  });
});

describe('the reference', () => {
  const part = (id: string) => {
    for (const [path, text] of pages) {
      const at = path.startsWith('/docs/api/') ? text.indexOf(`<section aria-labelledby="${id}">`) : -1;
      if (at >= 0) return text.slice(at, text.indexOf('</section>', at));
    }
    return assert.fail(`${id} has no section`);
  };
  const sample = (id: string) => codeText(/<h3>curl<\/h3>\s*(<pre[\s\S]*?<\/pre>)/.exec(part(id))?.[1] ?? '');

  it('shows every operation with a runnable sample, its scope, and its errors', () => {
    for (const id of OPERATIONS) {
      const text = part(id);
      assert.ok(sample(id).startsWith('curl '), id);
      assert.match(sample(id), /"Authorization: Bearer \$SKERRY_TOKEN"/);
      assert.ok(!/[{]\w*id[}]|undefined|\[object/.test(sample(id)), sample(id));
      assert.match(text, /scope <code>(?:read|write|billing)<\/code>/);
      assert.match(text, /400, 401, 403, /);
    }
  });

  it('has samples that work', async () => {
    assert.match(await type(sample('plans.list')), /"object":"list"/);
    assert.match(await type(sample('plans.get')), /"id":"s1"/);
    assert.match(await type(sample('volumes.create')), /"object":"volume"/);
    assert.match(await type(sample('balance.get')), /"usd":0/);
    assert.match(await type(sample('webhooks.create')), /"object":"webhook"/);
  });

  it('describes request bodies with their limits, and responses', () => {
    const volume = part('volumes.create');
    assert.match(volume, /<code>size_gb<\/code><td>integer<td>yes<td>[^<]*10 to 4096/);
    assert.match(volume, /<code>201<\/code> with the <a href="#the-volume-object">volume<\/a>/);
    assert.match(part('servers.rescue'), /<code>rescue\.password<\/code>/);
    assert.match(part('the-server-object'), /<code>ipv4\.address<\/code>[\s\S]*203\.0\.113\.10/);
    assert.match(part('the-firewall-group-object'), /<code>rules\[\]\.proto<\/code>/);
    assert.match(
      part('the-event-object'),
      /data\.server<\/code><td><a href="\/docs\/api\/servers#the-server-object"/,
    );
  });

  it('lists every event type in the conventions', () => {
    const text = pages.get('/docs/api/rules') ?? '';
    for (const type of EVENT_TYPES) assert.ok(text.includes(`<code>${type}</code>`), type);
  });
});

describe('the navigation of the docs', () => {
  const page = (path: string) => pages.get(path) ?? assert.fail(`${path} was not found`);
  const docsPages = () => [...pages].filter(([path]) => path.startsWith('/docs'));

  it('lists every guide and API page, and marks the current one', () => {
    for (const [path, text] of docsPages()) {
      const nav = /<nav class="docs-nav"[\s\S]*?<\/nav>/.exec(text)?.[0] ?? '';
      for (const { name, title } of GUIDES)
        assert.ok(nav.includes(`/docs/guides/${name}"`) && nav.includes(title));
      for (const other of pages.keys()) {
        if (other.startsWith('/docs/api')) assert.ok(nav.includes(`href="${other}"`), `${path}: ${other}`);
      }
      const current = [...nav.matchAll(/href="([^"]+)" aria-current="page"/g)].map(([, href]) => href);
      assert.deepEqual(current, path === '/docs' ? [] : [path]);
    }
  });

  it('lists the headings of a guide, and the operations of an API page with method and path', () => {
    const toc = (path: string) => /<nav class="toc"[\s\S]*?<\/nav>/.exec(page(path))?.[0] ?? '';
    const headings = [...page('/docs/guides/webhooks').matchAll(/<h[23] id="([^"]+)"/g)].map(([, id]) => id);
    const listed = [...toc('/docs/guides/webhooks').matchAll(/href="#([^"]+)"/g)].map(([, id]) => id);
    assert.ok(headings.length > 5);
    assert.deepEqual(listed, headings);
    const entry = /href="#volumes.attach">[^<]+<code><b>POST<\/b> <wbr>\/volumes<wbr>\/\{id\}<wbr>\/attach/;
    assert.match(toc('/docs/api/volumes'), entry);
  });

  it('leads from each page to the next and back', () => {
    const link = (path: string, rel: string) =>
      new RegExp(`href="([^"]+)" rel="${rel}"`).exec(page(path))?.[1];
    let path = '/docs/guides/getting-started';
    const visited = [path];
    assert.equal(link(path, 'prev'), undefined);
    for (let next = link(path, 'next'); next !== undefined; next = link(next, 'next')) {
      assert.equal(link(next, 'prev'), path);
      path = next;
      visited.push(path);
    }
    const expected = docsPages().map(([each]) => each);
    assert.deepEqual(visited.toSorted(), expected.filter((each) => each !== '/docs').toSorted());
  });

  it('needs no script, inline style, or SVG', () => {
    for (const [path, text] of docsPages()) {
      const scripts = text.match(/<script[^>]*>/g) ?? [];
      assert.deepEqual(
        scripts.filter((tag) => !/^<script src="\/assets\/[^"]+" defer>$/.test(tag)),
        [],
        path,
      );
      assert.ok(!/<svg|<style|\s(?:style|on[a-z]+)="/.test(text), path);
      assert.match(text, /<form class="docs-search[^>]* method="get" action="\/docs\/search">/, path);
      // The list follows the closed <details>: it is there even if a browser ignores the stylesheet.
      assert.match(text, /<summary>All pages<\/summary><\/details>\n<div class="folded">/, path);
    }
  });
});

describe('the guides', () => {
  it('return 404 for every other name', async () => {
    for (const path of [
      '/docs/guides/nothing',
      '/docs/guides/operator-guide',
      '/docs/guides/..%2fREADME',
      '/docs/api/x',
    ]) {
      assert.equal((await fetch(world.url + path)).status, 404, path);
    }
  });

  it('state the same confirmations and bonuses as the code', async () => {
    const text = await readFile(new URL('../../../docs/customers/payments.md', import.meta.url), 'utf8');
    for (const { code, network } of COINS) {
      const needed = [10_000n, 100_000n, 500_000n].map((cents) => confirmationsNeeded(code, cents));
      assert.ok(text.includes(`| \`${code}\` | ${network} | ${needed.join(' | ')} |`), code);
    }
    const usd = (amount: number) => amount.toLocaleString('en-US');
    for (const [from, bonus] of BONUS_TIERS_USD) {
      assert.ok(text.includes(`| $${usd(from)} | $${bonus} | $${usd(from + bonus)} |`));
    }
  });

  it('deploy a server with the curl commands exactly as printed', async () => {
    await mkdir(join(folder, '.ssh'));
    await writeFile(join(folder, '.ssh/id_ed25519.pub'), `${publicKey()} me@laptop\n`);
    const guide = readGuide('customers/getting-started');
    const parts = ['Use curl', 'Pay in a sandbox'].flatMap((heading) => codeBlocks(guide, heading));
    const [, plans, ask, poll, addKey, images, order, look, destroy, pay] = parts.map(({ text }) => text);
    const run = async (block = '', put: Readonly<Record<string, string>> = {}) => {
      const values = Object.entries(put);
      const text = values.reduce(
        (text, [name, value]) => text.replace(`${name}=…`, `${name}='${value}'`),
        block,
      );
      return await type(`base=${world.url}\n${text}`);
    };
    const named = (block: string | undefined, name: string, value: string) =>
      (block ?? '').replace(new RegExp(`^${name}=.*$`, 'm'), `${name}=${value}`);

    assert.match(await run(plans), /"s1"/);
    const topup = JSON.parse(await run(ask)) as Record<'id' | 'deposit_address' | 'deposit_amount', string>;
    await run(pay, { address: topup.deposit_address, amount: topup.deposit_amount });
    await world.settle();
    assert.match(await run(named(poll, 'topup', topup.id)), /"status":"credited"[\s\S]*"usd":130/);
    const key = JSON.parse(await run(addKey)) as { id: string };
    const list = JSON.parse(await run(images)) as { data: { id: string; deprecated_at: string | null }[] };
    const image = list.data.find(({ deprecated_at }) => deprecated_at === null)?.id ?? '';
    const server = JSON.parse(await run(named(named(order, 'key', key.id), 'image', image))) as {
      id: string;
    };
    await world.settle();
    assert.match(await run(named(look, 'server', server.id)), /"status":"running"/);
    const gone = `server=${server.id}\n${destroy}`;
    assert.match(await run(gone), /"status":"destroying"/);
  });
});

/** A public key in the format of ssh-keygen. */
function publicKey(): string {
  const word = (bytes: Buffer) => {
    const length = Buffer.alloc(4);
    length.writeUInt32BE(bytes.length);
    return Buffer.concat([length, bytes]);
  };
  const blob = Buffer.concat([word(Buffer.from('ssh-ed25519')), word(randomBytes(32))]);
  return `ssh-ed25519 ${blob.toString('base64')}`;
}
