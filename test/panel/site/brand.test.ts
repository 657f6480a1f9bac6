import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { after, before, describe, it } from 'node:test';
import { refundInstructions } from '../../../src/panel/money/payment.ts';
import { accentShades, contrast, SCHEMES } from '../../../src/panel/parts/accent.ts';
import { stockCell } from '../../../src/panel/site/plans.ts';
import { type HttpWorld, PLAIN_SITE, startHttpWorld } from '../../http/http-world.ts';
import { PanelClient } from '../../support/panel-client.ts';

const CSS = readFileSync(new URL('../../../src/panel/style.css', import.meta.url), 'utf8');
const BACKGROUND_TOKENS = ['sheet', 'paper', 'faint', 'bad-faint', 'warn-faint', 'good-faint'];
const LOGO = {
  bytes: Buffer.from('<svg xmlns="http://www.w3.org/2000/svg" width="90" height="30"/>'),
  extension: 'svg',
  type: 'image/svg+xml',
  width: 90,
  height: 30,
} as const;

describe('the accent color', () => {
  it('every color becomes shades that are readable on every background, and on buttons', () => {
    const steps = [0, 51, 102, 153, 204, 255];
    for (const red of steps)
      for (const green of steps)
        for (const blue of steps) {
          const accent = `#${[red, green, blue].map((n) => n.toString(16).padStart(2, '0')).join('')}`;
          for (const scheme of ['light', 'dark'] as const) {
            const { sea, seaInk, seaFaint } = accentShades(accent, scheme);
            for (const other of [...SCHEMES[scheme].backgrounds, seaFaint, seaInk])
              assert.ok(contrast(sea, other) >= 4.5, `${accent} ${scheme}: ${sea} on ${other}`);
          }
        }
  });

  it('a readable color stays as it is', () => {
    assert.equal(accentShades('#0a5a67', 'light').sea, '#0a5a67');
    assert.equal(accentShades('#77cbd8', 'dark').sea, '#77cbd8');
  });

  it('the backgrounds are those of the stylesheet', () => {
    const valuesOf = (token: string) =>
      [...CSS.matchAll(new RegExp(`^ +--${token}: (#[0-9a-f]{6});`, 'gm'))].map(([, color]) => color);
    assert.deepEqual(
      SCHEMES.light.backgrounds,
      BACKGROUND_TOKENS.map((token) => valuesOf(token)[0]),
    );
    assert.deepEqual(
      SCHEMES.dark.backgrounds,
      BACKGROUND_TOKENS.map((token) => valuesOf(token)[1]),
    );
  });
});

describe('the marks of the host', () => {
  let world: HttpWorld;
  let plain: HttpWorld;
  before(async () => {
    plain = await startHttpWorld();
    world = await startHttpWorld({
      site: {
        ...PLAIN_SITE,
        accent: '#ff8800',
        logo: LOGO,
        footerText: 'Fjord & Sons',
        footerLinks: [['Imprint', 'https://fjord.example/?a=1&b']],
        terms: { url: 'https://fjord.example/terms' },
        privacy: { text: '# Our privacy\n' },
        contact: 'help@fjord.example',
      },
    });
  });
  after(async () => {
    await world?.close();
    await plain?.close();
  });
  const home = async (of: HttpWorld) => (await PanelClient.forApp(of.app).get('/')).text;

  it('the logo is at the top of each page, is named like the host, and may be cached', async () => {
    const img =
      /<a class="brand logo" href="\/"><img src="([^"]+)" alt="([^"]+)"\s+width="(\d+)" height="(\d+)"/;
    const [, path = '', alt, ...size] = img.exec(await home(world)) ?? [];
    assert.match(path, /^\/assets\/[0-9a-f]{16}\/logo\.svg$/);
    assert.equal(alt, world.service.settings.siteName);
    assert.deepEqual(size, ['96', '32']);
    const { headers, body } = await world.app.inject({ url: path });
    assert.equal(body, LOGO.bytes.toString());
    assert.equal(headers['content-type'], 'image/svg+xml');
    assert.match(String(headers['cache-control']), /immutable/);
    assert.match(String(headers['content-security-policy']), /^default-src 'none';.* sandbox$/);
    assert.match(await home(plain), /<a class="brand" href="\/">[^<]+<\/a>/);
  });

  it('the accent color changes the stylesheet and its address', async () => {
    const styleOf = async (of: HttpWorld) =>
      /<link rel="stylesheet" href="([^"]+)"/.exec(await home(of))?.[1] ?? '';
    const [own, default_] = [await styleOf(world), await styleOf(plain)];
    assert.notEqual(own, default_);
    const { sea } = accentShades('#ff8800', 'light');
    assert.ok((await world.app.inject({ url: own })).body.includes(`:root { --sea: ${sea};`));
  });

  it('the footer has the line and the links of the host', async () => {
    const [footer = ''] = /<footer.*<\/footer>/s.exec(await home(world)) ?? [];
    assert.match(footer, /<p>Fjord &#38; Sons<\/p>/);
    assert.match(footer, /<a href="https:\/\/fjord\.example\/\?a=1&#38;b">Imprint<\/a>/);
  });

  it('terms, privacy, and contact are linked once they are published', async () => {
    for (const path of ['/terms', '/privacy', '/contact']) {
      assert.ok((await home(world)).includes(`<a href="${path}">`), path);
      assert.ok(!(await home(plain)).includes(`<a href="${path}">`), path);
    }
  });

  it('a withheld payment and a plan on request link to the contact only once it is published', () => {
    const topup = { id: 'top_1', network: 'bitcoin' };
    const plan = { id: 'd1', sold_in: ['par'], available_in: [], on_request: true } as never;
    const texts = (hasContact: boolean) => [
      refundInstructions(topup, hasContact).text,
      stockCell(plan, { id: 'par', name: 'Paris' }, { closed: null, hasContact }).text,
    ];
    for (const text of texts(true)) assert.match(text, /<a href="\/contact">Contact us<\/a>/);
    for (const text of texts(false)) assert.doesNotMatch(text, /href="\/contact"/);
  });

  it('the banner of a frozen account links to the contact only once it is published', async () => {
    for (const [host, linked] of [
      [world, true],
      [plain, false],
    ] as const) {
      const panel = PanelClient.forApp(host.app, { cookie: (await host.customer()).cookie });
      await host.db.run('update customers set frozen_at = now()');
      const { text } = await panel.open('/servers');
      const [banner = ''] = /Your account is frozen.*?<\/p>/s.exec(text) ?? [];
      assert.equal(banner.includes('<a href="/contact">'), linked, text.slice(0, 3000));
    }
  });

  it('terms elsewhere are one redirect away, and a privacy policy is a page', async () => {
    const terms = await world.app.inject({ url: '/terms' });
    assert.deepEqual([terms.statusCode, terms.headers.location], [303, 'https://fjord.example/terms']);
    assert.match((await PanelClient.forApp(world.app).get('/privacy')).text, /<h1>Our privacy<\/h1>/);
    assert.match((await PanelClient.forApp(plain.app).get('/privacy')).text, /Not available yet/);
  });
});
