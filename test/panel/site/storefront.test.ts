import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { after, before, describe, it } from 'node:test';
import { measureAvailability } from '../../../src/domain/health/availability.ts';
import { setSwitch } from '../../../src/domain/rules/switches.ts';
import { flag } from '../../../src/panel/site/flags.ts';
import { contactView, termsView } from '../../../src/panel/site/site.ts';
import { BONUS_TIERS_USD, CYCLE_DISCOUNT_PERCENT, CYCLE_MONTHS } from '../../../src/spec/limits.ts';
import { type HttpWorld, startHttpWorld } from '../../http/http-world.ts';

let world: HttpWorld;
before(async () => {
  world = await startHttpWorld({ catalogue: true });
});
after(() => world.close());

const readText = async (path: string): Promise<string> => {
  const response = await world.visitor().get(path);
  assert.equal(response.status, 200, path);
  return response.text.replace(/\s+/g, ' ');
};

describe('the front page', () => {
  it('the front page shows prices, bonuses, and discounts, and sets no cookie', async () => {
    const response = await world.visitor().get('/');
    assert.deepEqual(response.headers.getSetCookie(), []);
    for (const [from, bonus] of BONUS_TIERS_USD) {
      assert.ok(
        response.text.includes(
          `$${from.toLocaleString('en-US')}.00</th><td class="number" data-label="Bonus">$${bonus}.00`,
        ),
      );
    }
    for (const percent of Object.values(CYCLE_DISCOUNT_PERCENT)) {
      assert.ok(response.text.includes(percent === 0 ? 'None' : `${percent}%`));
    }
    assert.match(response.text, /href="\/plans\/s1"[\s\S]*\$7\.35/);
    assert.match(response.text, /This is a sandbox[\s\S]*<details>[\s\S]*\/sandbox\/payments/);
  });

  it('the front page switches between prices by month and by year, with the exact saving', async () => {
    const monthly = await readText('/');
    assert.match(monthly, /<a href="\/#plans" aria-current="true">Monthly<\/a>/);
    assert.match(monthly, /<strong>s1<\/strong> <span class="price">\$7\.35\/mo<\/span>/);
    const yearly = await readText('/?months=12');
    assert.match(yearly, /<a href="\/\?months=12#plans" aria-current="true">Yearly<\/a>/);
    assert.match(
      yearly,
      /<span class="price">\$3\.68\/mo<\/span> <span>\$44\.10 for 12 months, <b>save \$44\.10<\/b>/,
    );
    assert.match(await readText('/?months=7'), /aria-current="true">Monthly/);
  });

  it('the front page shows regions with flags, stock, and measurements once there are some', async () => {
    const before = await readText('/');
    assert.match(before, /<span class="flag vertical flag-fr" aria-hidden="true"><\/span> Paris<\/strong>/);
    assert.match(before, /Paris<\/strong>.*?plans in stock, from \$\d/);
    assert.doesNotMatch(before, /hosts reachable/);
    await world.db.run(
      'insert into host_facts (host_id, seen_at, latency_ms) select id, now(), 1 from hosts',
    );
    await measureAvailability(world.service);
    assert.match(await readText('/'), /Paris<\/strong>.*?(\d+) of \1 hosts reachable/);
  });

  it('a country without a drawn flag has its code, and every drawn flag has colors', () => {
    assert.equal(flag('US').text, '<span class="flag" aria-hidden="true">US</span>');
    const css = readFileSync(new URL('../../../src/panel/style.css', import.meta.url), 'utf8');
    const letters = [...'ABCDEFGHIJKLMNOPQRSTUVWXYZ'];
    for (const code of letters.flatMap((one) => letters.map((other) => one + other))) {
      const [, name] = /flag-(\w+)/.exec(flag(code).text) ?? [];
      if (name !== undefined) assert.ok(css.includes(`.flag-${name}`), name);
    }
  });

  it('the front page shows coins with networks and confirmations, and privacy in six lines', async () => {
    const text = await readText('/');
    assert.match(text, /Bitcoin <span class="soft">BTC<\/span><\/th><td[^>]*>Bitcoin<\/td><td[^>]*>\d/);
    const [, list = ''] = /<ol class="six">(.*?)<\/ol>/.exec(text) ?? [];
    assert.equal(list.match(/<li>/g)?.length, 6);
    assert.ok(Buffer.byteLength(text) < 60_000);
  });

  it('the front page never echoes an invalid Host header', async () => {
    const { text } = await world.visitor().get('/', { host: 'evil"><b>' });
    assert.ok(!text.includes('evil'));
    assert.match(text, /http:\/\/panel\.test\/csrf\.php/);
  });
});

describe('the plans', () => {
  it('a plan shows the price of every billing cycle, in total and per month', async () => {
    const text = await readText('/plans/s1');
    for (const price of ['$7.35', '$16.54', '$28.67', '$44.10', '$5.51', '$4.78', '$3.68']) {
      assert.ok(text.includes(price), price);
    }
    for (const months of CYCLE_MONTHS) {
      assert.match(await readText(`/plans?months=${months}`), new RegExp(`>${months} month`));
    }
    assert.ok((await readText('/plans?months=3')).includes('<strong>$16.54</strong>'));
  });

  it('a plan links to a deployment with the chosen options', async () => {
    const text = await readText('/plans?region=par&category=vps&months=12');
    assert.match(text, /href="\/servers\/new\?plan=s1&#38;region=par&#38;billing_months=12"/);
    assert.ok(!/region=rkv|plan=r1/.test(text));
  });

  it('plans show where they are sold out and where they are not offered', async () => {
    await world.db.run(`update ipv4_addresses set blocked = true where region_id = 'buh'`);
    const text = await readText('/plans?region=buh');
    assert.match(text, /sold out/);
    assert.ok(!/\/servers\/new/.test(text));
    assert.match(await readText('/plans/r3'), /Bucharest<\/a><\/th><td[^>]*><span class="soft">not offered/);
    assert.match(await readText('/regions/buh'), /No IPv4 addresses are available[\s\S]*None available/);
    assert.match(await readText('/regions/par'), /France \(FR\)[\s\S]*<dd>Available<[\s\S]*Onion address/);
    assert.match(await readText('/regions'), /Romania[\s\S]*sold out/);
  });

  it('the plans page ignores unknown filters, and unknown plans and regions are not found', async () => {
    assert.match(await readText('/plans?region=%3Cscript%3E&category=x&months=7'), /href="\/plans\/r1"/);
    for (const path of ['/plans/s9', '/plans/%3Cb%3E', '/regions/xxx', '/regions/otp']) {
      assert.equal((await world.visitor().get(path)).status, 404, path);
    }
  });

  it('plans cannot be ordered while deploys are off, and the page says why', async () => {
    await setSwitch(world.service, 'deploys', false, 'storage is full');
    const text = await readText('/plans');
    assert.match(text, /storage is full/);
    assert.ok(!/\/servers\/new/.test(text));
    assert.match(await readText('/status'), /New servers are unavailable[^<]*\(storage is full\)/);
    await setSwitch(world.service, 'deploys', true);
  });
});

describe('the status', () => {
  it('the status page reports that all systems are operational', async () => {
    const text = await readText('/status');
    assert.match(text, /All systems operational[\s\S]*No maintenance in progress or scheduled/);
    assert.match(
      text,
      /Litecoin \(LTC\)<\/th><td[^>]*>Litecoin<\/td><td[^>]*><span class="state good">accepted/,
    );
  });

  it('the status page shows maintenance, pauses, and delayed coins, not internal reasons', async () => {
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
    assert.match(text, /Create a server<\/th><td[^>]*><span class="state off">scheduled/);
    assert.match(text, /new &#60;storage&#62;/);
    assert.match(text, /Emails are paused/);
    assert.ok(!text.includes('secret-host'));
    assert.match(text, /Monero \(XMR\)<\/th><td[^>]*>Monero<\/td><td[^>]*><span class="state busy">delayed/);
  });
});

describe('terms and contact', () => {
  it('terms and contact pages say that they are not available yet', async () => {
    for (const path of ['/terms', '/contact']) assert.match(await readText(path), /Not available yet/);
  });

  it('terms are rendered as inert text', () => {
    const { title, body } = termsView({
      terms: `# Terms <script>alert(1)</script>
<script>alert(2)</script>
<img src=x onerror=alert(3)>

[a](javascript:alert(4)) [b](JaVaScRiPt:alert(5)) [c](data:text/html,x) [d](//evil.example/x) [e](vbscript:x)
![f](https://evil.example/pixel.png) [g](https://fine.example/ "x\\" onmouseover=alert(6)")
[h](mailto:me@fine.example)
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

  it('the contact page links only valid addresses', () => {
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
});

describe('well-known files', () => {
  it('the front page links the OpenAPI document and llms.txt, whose links all work', async () => {
    const front = await readText('/');
    for (const path of ['/v1/openapi.json', '/llms.txt']) assert.ok(front.includes(`href="${path}"`), path);
    const llms = await world.app.inject({ url: '/llms.txt', headers: { host: 'skerry.test' } });
    assert.match(String(llms.headers['content-type']), /^text\/plain/);
    const links = [...llms.body.matchAll(/\]\(http:\/\/skerry\.test(\/[^)]+)\)/g)].map(
      ([, path = '']) => path,
    );
    assert.ok(links.includes('/docs/guides/getting-started.md') && links.includes('/v1/openapi.json'));
    for (const url of links) {
      const page = await world.app.inject({ url });
      assert.equal(page.statusCode, 200, url);
      if (!url.endsWith('.md')) continue;
      for (const [, href = ''] of page.body.matchAll(/\]\(([^)#\s]+)[^)]*\)/g)) {
        const target = new URL(href, `http://skerry.test${url}`);
        if (target.host !== 'skerry.test' || target.pathname.startsWith('/account')) continue;
        const { statusCode } = await world.app.inject({ url: target.pathname });
        assert.ok(statusCode < 400, `${url}: ${href}`);
      }
    }
    const guide = await world.app.inject({ url: '/docs/guides/api.md', headers: { host: 'skerry.test' } });
    assert.match(String(guide.headers['content-type']), /^text\/markdown/);
    assert.match(guide.body, /^# Using the REST API\n/);
    assert.ok(!guide.body.includes('skerry.example'));
  });

  it('favicon.ico and robots.txt are served and cacheable', async () => {
    const icon = await world.app.inject({ url: '/favicon.ico' });
    assert.equal(icon.headers['content-type'], 'image/png');
    assert.deepEqual([...icon.rawPayload.subarray(1, 4)], [...Buffer.from('PNG')]);
    const robots = await world.app.inject({ url: '/robots.txt' });
    assert.match(robots.body, /^User-agent: \*\nAllow: \/\n$/);
    for (const { headers } of [icon, robots]) assert.match(String(headers['cache-control']), /max-age=86400/);
  });
});
