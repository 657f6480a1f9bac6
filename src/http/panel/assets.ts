/**
 * The stylesheet and the scripts of all pages: read once, served compressed from memory, with a hash of their
 * content as name. And the two files that browsers and robots request from every site. Pages are not
 * compressed: their size could tell an observer the secrets in their forms.
 */
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { promisify } from 'node:util';
import { brotliCompress, gzip } from 'node:zlib';
import type { FastifyInstance } from 'fastify';
import { accentRules } from '../../panel/parts/accent.ts';
import type { Brand } from '../../panel/parts/brand.ts';
import type { Frame } from '../../panel/parts/layout.ts';
import type { Edge, Logo, SiteSettings } from '../settings.ts';

interface Asset {
  readonly path: string;
  readonly type: string;
  readonly bytes: Buffer;
}

const HASH_CHARS = 16;

/** In the masthead. */
const LOGO_HEIGHT_PX = 32;
/** A logo may be an SVG. Nothing in it may run or load when its address is opened. */
const LOGO_HEADERS = { 'content-security-policy': `default-src 'none'; style-src 'unsafe-inline'; sandbox` };

function toAsset(file: string, type: string, bytes: Buffer): Asset {
  const hash = createHash('sha256').update(bytes).digest('hex').slice(0, HASH_CHARS);
  return { path: `/assets/${hash}/${file}`, type, bytes };
}

function readAsset(file: string): Buffer {
  return readFileSync(new URL(`../../panel/${file}`, import.meta.url));
}

const STYLE = readAsset('style.css');
const SCRIPTS = ['enhance.js', 'live.js', 'charts.js', 'upload.js', 'passkeys.js'].map((file) =>
  toAsset(file, 'text/javascript; charset=utf-8', readAsset(file)),
);

/** In order of preference. Firefox asks for Brotli only over HTTPS, so onion services need gzip. */
const ENCODINGS = { br: promisify(brotliCompress), gzip: promisify<Buffer, Buffer>(gzip) } as const;

interface SiteAssets {
  readonly style: Asset;
  readonly logo: Asset | null;
}

const cache = new WeakMap<SiteSettings, SiteAssets>();

/** The assets that depend on settings. */
function siteAssets(site: SiteSettings): SiteAssets {
  const found = cache.get(site);
  if (found) return found;
  const { accent, logo } = site;
  const own = accent === null ? [] : [Buffer.from(accentRules(accent))];
  const assets = {
    style: toAsset('style.css', 'text/css; charset=utf-8', Buffer.concat([STYLE, ...own])),
    logo: logo && toAsset(`logo.${logo.extension}`, logo.type, logo.bytes),
  };
  cache.set(site, assets);
  return assets;
}

/** Returns the paths of the stylesheet and the scripts. */
export function assetsOf(site: SiteSettings): Frame['assets'] {
  const [script, live, charts, upload, passkeys] = SCRIPTS.map(({ path }) => path);
  const { path: style } = siteAssets(site).style;
  return { style, script, live, charts, upload, passkeys } as Frame['assets'];
}

/** Returns the host's marks as pages show them. */
export function brandOf(name: string, site: SiteSettings, { transparency = false } = {}): Brand {
  const { logo } = siteAssets(site);
  return {
    name,
    logo: logo && site.logo && { path: logo.path, ...shownSize(site.logo) },
    footer: { text: site.footerText, links: site.footerLinks },
    published: {
      terms: site.terms !== null,
      privacy: site.privacy !== null,
      contact: site.contact !== null,
      abuse: site.abuseForm,
      transparency,
    },
  };
}

/** Whether the host has published how to reach it. */
export function hasContact({ settings }: Pick<Edge, 'settings'>): boolean {
  return settings.site.contact !== null;
}

function shownSize({ width, height }: Logo): { readonly width: number; readonly height: number } {
  return { width: Math.max(1, Math.round((width / height) * LOGO_HEIGHT_PX)), height: LOGO_HEIGHT_PX };
}

export function registerAssets(scope: FastifyInstance, site: SiteSettings): void {
  const { style, logo } = siteAssets(site);
  for (const asset of [style, ...SCRIPTS]) registerAsset(scope, asset, {});
  if (logo) registerAsset(scope, logo, LOGO_HEADERS);
}

function registerAsset(
  scope: FastifyInstance,
  { path, type, bytes }: Asset,
  headers: Readonly<Record<string, string>>,
): void {
  const compressed = new Map<Encoding, Promise<Buffer>>();
  scope.get(path, async (request, reply) => {
    reply.headers({
      'content-type': type,
      'cache-control': 'public, max-age=31536000, immutable',
      'cross-origin-resource-policy': 'same-origin',
      ...headers,
    });
    if (!type.startsWith('text/')) return bytes;
    reply.header('vary', 'accept-encoding');
    const encoding = acceptedEncoding(request.headers['accept-encoding']);
    if (encoding === null) return bytes;
    const body = compressed.get(encoding) ?? ENCODINGS[encoding](bytes);
    compressed.set(encoding, body);
    reply.header('content-encoding', encoding);
    return await body;
  });
}

type Encoding = keyof typeof ENCODINGS;

function acceptedEncoding(header: string | string[] | undefined): Encoding | null {
  const accepted = String(header ?? '').split(/\s*,\s*/);
  if (accepted.includes('br')) return 'br';
  return accepted.includes('gzip') ? 'gzip' : null;
}

const FAVICON = readFileSync(new URL('../../panel/favicon.png', import.meta.url));
/** The paths of these two never change, so they are cached for a day instead of permanently. */
const CACHE_HEADERS = { 'cache-control': 'public, max-age=86400' };

export function registerFavicon(scope: FastifyInstance): void {
  scope.get('/favicon.ico', (_request, reply) => {
    reply
      .headers({
        'content-type': 'image/png',
        'cross-origin-resource-policy': 'same-origin',
        ...CACHE_HEADERS,
      })
      .send(FAVICON);
  });
}

export function registerSiteFiles(scope: FastifyInstance): void {
  registerFavicon(scope);
  scope.get('/robots.txt', (_request, reply) => {
    reply
      .headers({ 'content-type': 'text/plain; charset=utf-8', ...CACHE_HEADERS })
      .send('User-agent: *\nAllow: /\n');
  });
}
