import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { after, before, describe, it } from 'node:test';
import { seriousViolations } from '../support/axe.ts';
import { type Chromium, NO_CHROMIUM, openChromium, pageErrors } from '../support/chromium.ts';
import { type Firefox, NO_FIREFOX, openFirefox } from '../support/firefox.ts';
import { readPng } from '../support/png-pixels.ts';
import { FULL_ONLY } from '../support/runs.ts';

/** One blue pixel. */
const PNG = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAIAAACQd1PeAAAADElEQVR42mNgYPgPAAEDAQAIicLsAAAAAElFTkSuQmCC',
  'base64',
);

const PAGE = `<!doctype html>
<html lang="en"><head><meta charset="utf-8"><title>Harbor</title>
<link rel="stylesheet" href="/style.css"></head>
<body><main><h1>Harbor</h1>
<noscript><p>Scripts are off.</p></noscript>
<svg width="40" height="40"><rect width="40" height="40" fill="#f00"/></svg>
<img src="/dot.png" alt="A dot"><img src="/gone.png" alt="Gone">
<p class="faint">Barely readable</p>
<form method="post" action="/"><p><label>Name <input name="name" value="old"></label>
<label>Berth <select name="berth"><option>east<option>west</select></label>
<label><input type="checkbox" name="dry"> Dry</label> <button>Send</button></p></form>
</main><script src="/script.js"></script></body></html>`;

const SMALL = { width: 400, height: 300 };

const FILES: Readonly<Record<string, readonly [type: string, body: string | Buffer]>> = {
  '/': ['text/html; charset=utf-8', PAGE],
  '/dot.png': ['image/png', PNG],
  '/style.css': ['text/css', ':root { color-scheme: light dark } .faint { color: #888; background: #777 }'],
  '/script.js': ['text/javascript', `document.title = 'Scripts are on';`],
};

async function answer(request: IncomingMessage, reply: ServerResponse): Promise<void> {
  reply.setHeader(
    'content-security-policy',
    `default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; form-action 'self'`,
  );
  if (request.method === 'POST') {
    const sent = await text(request);
    reply.setHeader('content-type', 'text/html').end(`<!doctype html><title>Sent</title><p>Sent: ${sent}`);
    return;
  }
  const [type, body] = FILES[request.url ?? ''] ?? [];
  if (type === undefined) reply.writeHead(404).end();
  else reply.setHeader('content-type', type).end(body);
}

let server: Server;
let url: string;

before(async () => {
  server = createServer((request, reply) => void answer(request, reply)).listen(0, '127.0.0.1');
  await once(server, 'listening');
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
});

after(() => {
  server.close();
  server.closeAllConnections();
});

/** Counts the pixels of a screenshot that are the red of the SVG. */
function redPixels(png: Buffer): number {
  const { width, height, at } = readPng(png);
  let count = 0;
  for (let y = 0; y < height; y++) {
    for (let x = 0; x < width; x++) {
      const [red = 0, green = 0, blue = 0] = at(x, y);
      if (red === 255 && green === 0 && blue === 0) count += 1;
    }
  }
  return count;
}

describe('Firefox with Tor Browser’s safest settings', { skip: NO_FIREFOX || FULL_ONLY.skip }, () => {
  let firefox: Firefox;
  before(async () => {
    firefox = await openFirefox();
  });
  after(() => firefox?.close());

  it('Firefox shows no SVG and runs no script', async () => {
    await using tab = await firefox.tab();
    await tab.page.setViewport(SMALL);
    assert.equal(await tab.open(url), 200);
    assert.equal(await tab.title(), 'Harbor');
    assert.match(await tab.text(), /Harbor\s+Scripts are off\./);
    assert.equal(redPixels(await tab.screenshot()), 0);
  });

  it('Firefox reports which images were loaded', async () => {
    await using tab = await firefox.tab();
    await tab.open(url);
    assert.deepEqual(await tab.images(), [
      { src: `${url}dot.png`, alt: 'A dot', width: 1, height: 1 },
      { src: `${url}gone.png`, alt: 'Gone', width: 0, height: 0 },
    ]);
  });

  it('Firefox fills in a form and submits it', async () => {
    await using tab = await firefox.tab();
    await tab.open(url);
    await tab.fill('[name=name]', 'Ada & Co');
    await tab.selectOption('[name=berth]', 'west');
    await tab.click('[name=dry]');
    await tab.clickAndWait('button');
    assert.equal(await tab.text(), 'Sent: name=Ada+%26+Co&berth=west&dry=on');
  });

  it('Firefox reaches only this machine', async () => {
    await using tab = await firefox.tab();
    await assert.rejects(tab.open('http://192.0.2.1/'), /NS_ERROR_PROXY|proxy/i);
  });
});

describe('Chromium', { skip: NO_CHROMIUM || FULL_ONLY.skip }, () => {
  let chromium: Chromium;
  before(async () => {
    chromium = await openChromium();
  });
  after(() => chromium?.close());

  it('Chromium shows SVG and runs scripts', async () => {
    await using page = await chromium.page({ viewport: SMALL });
    await page.goto(url);
    assert.equal(await page.title(), 'Scripts are on');
    assert.equal(await page.getByText('Scripts are off.').isVisible(), false);
    assert.equal(redPixels(await page.screenshot()), 1_600);
    assert.match(pageErrors(page).join('\n'), /404/);
  });

  it('Chromium fills in a form and submits it with scripts off', async () => {
    await using page = await chromium.page({ javaScriptEnabled: false });
    await page.goto(url);
    await page.getByLabel('Name').fill('Ada');
    await page.getByRole('button', { name: 'Send' }).click();
    await page.getByText('Sent: name=Ada&berth=east').waitFor();
  });

  it('Chromium renders the dark color scheme on request', async () => {
    await using page = await chromium.page({ colorScheme: 'dark', viewport: SMALL });
    await page.goto(url);
    const [red = 255] = readPng(await page.screenshot()).at(390, 10);
    assert.ok(red < 64);
  });

  it('Chromium reaches only this machine', async () => {
    await using page = await chromium.page();
    await assert.rejects(page.goto('http://192.0.2.1/'), /ERR_PROXY_CONNECTION_FAILED/);
    assert.match(pageErrors(page).join(), /192\.0\.2\.1/);
  });

  it('axe reports a contrast violation despite the content security policy', async () => {
    await using page = await chromium.page();
    await page.goto(url);
    const violations = await seriousViolations(page);
    assert.equal(violations.length, 1);
    assert.match(violations[0] ?? '', /^color-contrast \(serious\): .*: \.faint$/);
  });
});
