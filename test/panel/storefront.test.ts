import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { readTerms } from '../../src/compose/terms.ts';
import { loadConfig } from '../../src/config.ts';
import { setSwitch } from '../../src/domain/switches/switch.ts';
import { contactView, termsView } from '../../src/panel/site.ts';
import { BONUS_TIERS_USD, CYCLE_DISCOUNT_PERCENT, CYCLE_MONTHS } from '../../src/spec/limits.ts';
import { type HttpWorld, startHttpWorld } from '../http/http-world.ts';

let world: HttpWorld;
before(async () => {
  world = await startHttpWorld({ catalogue: true });
});
after(() => world.close());

const readText = async (path: string): Promise<string> => {
  const answer = await world.visitor().get(path);
  assert.equal(answer.status, 200, path);
  return answer.text.replace(/\s+/g, ' ');
};

describe('the front page', () => {
  it('says what it costs, what is given on top and what a longer cycle saves, and asks for no cookie', async () => {
    const answer = await world.visitor().get('/');
    assert.deepEqual(answer.headers.getSetCookie(), []);
    for (const [from, bonus] of BONUS_TIERS_USD) {
      assert.ok(
        answer.text.includes(`$${from.toLocaleString('en-US')}.00</th><td class="number">$${bonus}.00`),
      );
    }
    for (const percent of Object.values(CYCLE_DISCOUNT_PERCENT)) {
      assert.ok(answer.text.includes(percent === 0 ? 'none' : `${percent} %`));
    }
    assert.match(answer.text, /href="\/plans\/s1"[\s\S]*\$7\.35/);
    assert.match(answer.text, /This is a sandbox[\s\S]*<details>[\s\S]*\/sandbox\/payments/);
  });

  it('repeats no name of a host that could be anything but one', async () => {
    const { text } = await world.visitor().get('/', { host: 'evil"><b>' });
    assert.ok(!text.includes('evil'));
    assert.match(text, /http:\/\/panel\.test\/csrf\.php/);
  });
});

describe('the plans', () => {
  it('have the price of every cycle as it will be charged, in all and for a month', async () => {
    const text = await readText('/plans/s1');
    for (const price of ['$7.35', '$16.54', '$28.67', '$44.10', '$5.51', '$4.78', '$3.68']) {
      assert.ok(text.includes(price), price);
    }
    for (const months of CYCLE_MONTHS) {
      assert.match(await readText(`/plans?months=${months}`), new RegExp(`>${months} month`));
    }
    assert.ok((await readText('/plans?months=3')).includes('<strong>$16.54</strong>'));
  });

  it('lead to a deploy with what was chosen', async () => {
    const text = await readText('/plans?region=par&category=vps&months=12');
    assert.match(text, /href="\/servers\/new\?plan=s1&#38;region=par&#38;billing_months=12"/);
    assert.ok(!/region=rkv|plan=r1/.test(text));
  });

  it('say where nothing is left, and where a plan was never sold', async () => {
    await world.db.run(`update ipv4_addresses set blocked = true where region_id = 'buh'`);
    const text = await readText('/plans?region=buh');
    assert.match(text, /sold out/);
    assert.ok(!/\/servers\/new/.test(text));
    assert.match(await readText('/plans/r3'), /Bucharest<\/a><\/th><td><span class="soft">not sold here/);
    assert.match(await readText('/regions/buh'), /No IPv4 addresses are left[\s\S]*none left/);
    assert.match(await readText('/regions/par'), /France \(FR\)[\s\S]*enough left[\s\S]*Onion address/);
    assert.match(await readText('/regions'), /Romania[\s\S]*sold out/);
  });

  it('pass over what an address says and nobody sells, and know nothing of others', async () => {
    assert.match(await readText('/plans?region=%3Cscript%3E&category=x&months=7'), /href="\/plans\/r1"/);
    for (const path of ['/plans/s9', '/plans/%3Cb%3E', '/regions/xxx', '/regions/otp']) {
      assert.equal((await world.visitor().get(path)).status, 404, path);
    }
  });

  it('are not to be ordered while deploys are off, and say why', async () => {
    await setSwitch(world.service, 'deploys', false, 'storage is full');
    const text = await readText('/plans');
    assert.match(text, /storage is full/);
    assert.ok(!/\/servers\/new/.test(text));
    assert.match(await readText('/status'), /No new servers are sold[^<]*\(storage is full\)/);
    await setSwitch(world.service, 'deploys', true);
  });
});

describe('the status', () => {
  it('is calm where nothing is the matter', async () => {
    const text = await readText('/status');
    assert.match(text, /Everything runs[\s\S]*None now, and none announced/);
    assert.match(text, /LTC<\/th><td>Litecoin<\/td><td><span class="state good">taken/);
  });

  it('names windows, what the operator closed and coins that are late, without his own reasons', async () => {
    const { db, service } = world;
    const from = new Date(service.clock.now().getTime() + 3_600_000);
    await db.run(
      `insert into maintenance_windows (id, operation, starts_at, ends_at, reason)
       values (gen_random_uuid(), 'servers.create', $1, $2, 'new <storage>')`,
      [from, new Date(from.getTime() + 3_600_000)],
    );
    await db.run('update service set rules_version = rules_version + 1');
    await db.run(`insert into coins (code, next_index, failures) values ('XMR', 0, 11)`);
    await setSwitch(service, 'mail', false, 'the provider of secret-host is broke');
    const text = await readText('/status');
    assert.match(text, /Create a server<\/th><td><span class="state off">announced/);
    assert.match(text, /new &#60;storage&#62;/);
    assert.match(text, /Mails are not sent/);
    assert.ok(!text.includes('secret-host'));
    assert.match(text, /XMR<\/th><td>Monero<\/td><td><span class="state busy">seen late/);
  });
});

describe('terms and contact', () => {
  it('say plainly that there are none', async () => {
    for (const path of ['/terms', '/contact']) assert.match(await readText(path), /has not written this yet/);
  });

  it('are text, whatever is written into them', () => {
    const { title, body } = termsView({
      terms: `# Terms <script>alert(1)</script>
<script>alert(2)</script>
<img src=x onerror=alert(3)>

[a](javascript:alert(4)) [b](JaVaScRiPt:alert(5)) [c](data:text/html,x) [d](//evil.example/x) [e](vbscript:x)
![f](https://evil.example/pixel.png) [g](https://fine.example/ "x\\" onmouseover=alert(6)") [h](mailto:me@fine.example)
<javascript:alert(7)>

| a | b |
|---|---|
| <b onclick=x> | 2 |

## "><svg onload=alert(8)>
`,
    });
    assert.match(title, /^Terms/);
    const tags = [...body.text.matchAll(/<([a-z0-9]+)([^>]*)>/g)];
    for (const [whole, tag = '', attributes = ''] of tags) {
      assert.ok(!['script', 'img', 'svg', 'b', 'iframe'].includes(tag), whole);
      assert.ok(!/\son\w+=/.test(attributes.replace(/"[^"]*"/g, '""')), whole);
    }
    const links = [...body.text.matchAll(/href="([^"]*)"/g)].map(([, href]) => href);
    assert.deepEqual(links, [
      'https://evil.example/pixel.png',
      'https://fine.example/',
      'mailto:me@fine.example',
    ]);
  });

  it('link to what is an address, and to nothing else', () => {
    const html = (contact: string) => contactView({ contact }).body.text;
    assert.match(html('mailto:us@host.example'), /href="mailto:us@host\.example">us@host/);
    assert.match(html('us@host.example'), /href="mailto:us@host\.example"/);
    assert.match(html('https://host.example/help?a=1&b'), /href="https:\/\/host\.example\/help\?a=1&#38;b"/);
    for (const text of [
      'javascript:alert(1)',
      'http://host.example',
      'Session 05ab, or ask "Ann" <b>',
      'x@y',
    ]) {
      assert.ok(!/<a |<b>/.test(html(text)), text);
    }
  });

  it('come from settings that are read at start', () => {
    const folder = mkdtempSync(join(tmpdir(), 'skerry-terms-'));
    const file = join(folder, 'terms.md');
    const terms = () => readTerms(loadConfig({ SKERRY_TERMS_FILE: file }));
    assert.throws(terms, /^OperatorError: SKERRY_TERMS_FILE: there is no Markdown file/);
    for (const bad of ['', 'x'.repeat(256 * 1024 + 1)]) {
      writeFileSync(file, bad);
      assert.throws(terms, /SKERRY_TERMS_FILE/);
    }
    writeFileSync(file, '# Ours\n');
    assert.equal(terms(), '# Ours\n');
    assert.equal(readTerms(loadConfig({})), null);
    assert.throws(
      () => loadConfig({ SKERRY_CONTACT: 'a\nb' }),
      /^ConfigError: SKERRY_CONTACT: must be one line/,
    );
    rmSync(folder, { recursive: true });
  });
});

describe('what browsers and robots ask every site for', () => {
  it('is there, and may be kept', async () => {
    const icon = await world.app.inject({ url: '/favicon.ico' });
    assert.equal(icon.headers['content-type'], 'image/png');
    assert.deepEqual([...icon.rawPayload.subarray(1, 4)], [...Buffer.from('PNG')]);
    const robots = await world.app.inject({ url: '/robots.txt' });
    assert.match(robots.body, /^User-agent: \*\nAllow: \/\n$/);
    for (const { headers } of [icon, robots]) assert.match(String(headers['cache-control']), /max-age=86400/);
  });
});
