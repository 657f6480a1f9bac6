import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { readLogo } from '../../src/compose/logo.ts';
import { readSite } from '../../src/compose/site.ts';
import { loadConfig } from '../../src/config.ts';

const svg = (attributes: string, inside = '<circle r="1"/>') =>
  Buffer.from(`<svg xmlns="http://www.w3.org/2000/svg" ${attributes}>${inside}</svg>`);

function png(width: number, height: number): Buffer {
  const bytes = Buffer.alloc(40);
  bytes.write('\x89PNG\r\n\x1a\n', 'latin1');
  bytes.writeUInt32BE(width, 16);
  bytes.writeUInt32BE(height, 20);
  return bytes;
}

function webp(kind: string, fill: (bytes: Buffer) => void): Buffer {
  const bytes = Buffer.alloc(40);
  bytes.write('RIFF', 0, 'latin1');
  bytes.write(`WEBP${kind}`, 8, 'latin1');
  fill(bytes);
  return bytes;
}

describe('the texts and marks of the operator', () => {
  let folder: string;
  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'skerry-site-'));
  });
  after(() => rm(folder, { recursive: true }));

  const file = (name: string, content: string | Buffer): string => {
    writeFileSync(join(folder, name), content);
    return join(folder, name);
  };
  const read = (env: Record<string, string>) => readSite(loadConfig(env));

  it('a service without settings has none', () => {
    assert.deepEqual(read({}), {
      terms: null,
      privacy: null,
      contact: null,
      abuseForm: false,
      accent: null,
      logo: null,
      footerText: null,
      footerLinks: [],
    });
  });

  it('terms and a privacy policy are files, and an unreadable file stops the start', () => {
    for (const [setting, key] of [
      ['SKERRY_TERMS_FILE', 'terms'],
      ['SKERRY_PRIVACY_FILE', 'privacy'],
    ] as const) {
      const refused = new RegExp(`^OperatorError: ${setting}: not a readable Markdown file`);
      assert.throws(() => read({ [setting]: join(folder, 'none.md') }), refused);
      for (const bad of ['', 'x'.repeat(256 * 1024 + 1)])
        assert.throws(() => read({ [setting]: file('bad.md', bad) }), refused);
      assert.deepEqual(read({ [setting]: file('own.md', '# Ours\n') })[key], { text: '# Ours\n' });
    }
  });

  it('terms and a privacy policy may be elsewhere, and not in two places', () => {
    const url = 'https://host.example/terms';
    assert.deepEqual(read({ SKERRY_TERMS_URL: url }).terms, { url });
    assert.deepEqual(read({ SKERRY_PRIVACY_URL: url }).privacy, { url });
    assert.throws(
      () => loadConfig({ SKERRY_TERMS_URL: url, SKERRY_TERMS_FILE: 'x' }),
      /^ConfigError: SKERRY_TERMS_URL: set it or SKERRY_TERMS_FILE, not both/,
    );
    for (const bad of ['http://host.example', 'javascript:alert(1)', 'https://a:b@host.example', '/terms'])
      assert.throws(() => loadConfig({ SKERRY_TERMS_URL: bad }), /SKERRY_TERMS_URL: must be the https/);
  });

  it('the contact is one line', () => {
    assert.throws(() => loadConfig({ SKERRY_CONTACT: 'a\nb' }), /SKERRY_CONTACT: must be one line/);
  });

  it('the footer has a line of text and up to eight links', () => {
    const links = 'Blog=https://blog.example, About us = https://a.example/?a=1&b=2';
    assert.deepEqual(read({ SKERRY_FOOTER_LINKS: links }).footerLinks, [
      ['Blog', 'https://blog.example'],
      ['About us', 'https://a.example/?a=1&b=2'],
    ]);
    const nine = Array.from({ length: 9 }, () => 'a=https://a.example').join(',');
    for (const bad of ['Blog', '=https://a.example', 'a=http://a.example', 'a=https://a b', nine])
      assert.throws(() => loadConfig({ SKERRY_FOOTER_LINKS: bad }), /SKERRY_FOOTER_LINKS: must be at most/);
    assert.throws(() => loadConfig({ SKERRY_FOOTER_TEXT: 'x'.repeat(201) }), /SKERRY_FOOTER_TEXT: must be/);
  });

  it('an accent color is # and six digits', () => {
    assert.equal(read({ SKERRY_ACCENT_COLOR: '#FF8800' }).accent, '#ff8800');
    for (const bad of ['red', '#f80', 'ff8800', '#ff8800;'])
      assert.throws(() => loadConfig({ SKERRY_ACCENT_COLOR: bad }), /SKERRY_ACCENT_COLOR: must be #/);
  });

  it('a logo is a PNG, WebP, or SVG file, whose size is read from its content', () => {
    const sizes = [
      png(120, 40),
      webp('VP8 ', (bytes) => {
        bytes.writeUInt16LE(120, 26);
        bytes.writeUInt16LE(40, 28);
      }),
      webp('VP8L', (bytes) => bytes.writeUInt32LE(119 | (39 << 14), 21)),
      webp('VP8X', (bytes) => {
        bytes.writeUIntLE(119, 24, 3);
        bytes.writeUIntLE(39, 27, 3);
      }),
      svg('width="120" height="40px"'),
      svg('viewBox="0 0 120 40"'),
    ].map((bytes) => readLogo(bytes));
    assert.deepEqual(
      sizes.map(({ extension, width, height }) => `${extension} ${width}x${height}`),
      ['png', 'webp', 'webp', 'webp', 'svg', 'svg'].map((type) => `${type} 120x40`),
    );
    const { logo } = read({ SKERRY_LOGO_FILE: file('logo.png', png(1, 1)) });
    assert.equal(logo?.type, 'image/png');
  });

  it('a logo that is missing, too large, of another type, or too long stops the start', () => {
    const refusal = (content: string | Buffer) => () => read({ SKERRY_LOGO_FILE: file('logo', content) });
    assert.throws(() => read({ SKERRY_LOGO_FILE: join(folder, 'none') }), /SKERRY_LOGO_FILE: not a readable/);
    assert.throws(refusal(Buffer.alloc(64 * 1024 + 1)), /not a readable file of 1 byte to 64 KiB/);
    for (const other of ['GIF89a', '<html>', svg('width="100%"')])
      assert.throws(refusal(other), /must be a PNG, WebP, or SVG/);
    for (const [width, height] of [
      [0, 10],
      [90, 10],
      [10, 90],
    ] as const)
      assert.throws(refusal(png(width, height)), /its sides must be above 0/);
  });

  it('an SVG that runs or loads something stops the start', () => {
    const size = 'width="1" height="1"';
    for (const bad of [
      svg(size, '<script>alert(1)</script>'),
      svg(`${size} onload="alert(1)"`),
      svg(size, '<foreignObject/>'),
      svg(size, '<image href="https://evil.example/x.png"/>'),
      svg(size, '<a xlink:href="javascript:alert(1)"/>'),
      svg(size, '<rect fill="url(https://evil.example/x)"/>'),
    ])
      assert.throws(() => readLogo(bad), /SKERRY_LOGO_FILE: an SVG must be a plain drawing/, bad.toString());
    readLogo(svg(size, '<use href="#a"/><rect fill="url(#b)"/>'));
  });
});
