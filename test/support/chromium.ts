/**
 * Debian's Chromium for panel tests: one browser per test file, a separate context for each page, and no
 * network access beyond this machine. A file opens it in `before` and closes it in `after`:
 *
 *     describe('the panel', { skip: NO_CHROMIUM }, () => {
 *       let chromium: Chromium;
 *       before(async () => { chromium = await openChromium(); });
 *       after(() => chromium.close());
 *       it('opens', async () => {
 *         await using page = await chromium.page({ colorScheme: 'dark' });
 */
import { type BrowserContextOptions, chromium, type Page, type Request } from 'playwright-core';
import { findProgram, skipUnlessInstalled } from './installed-programs.ts';

const NOT_INSTALLED = 'Chromium is not installed: apt-get install chromium';
const PATH = findProgram(['chromium', 'chromium-browser']);
const ACTION_TIMEOUT_MS = 45_000;
/** Nothing listens on port 9, so requests to other hosts fail immediately. */
const DEAD_PROXY_URL = 'http://127.0.0.1:9';
const FLAGS = [
  '--headless',
  '--no-sandbox',
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
  `--proxy-server=${DEAD_PROXY_URL}`,
];

/** The reason to skip tests that need Chromium, or false. */
export const NO_CHROMIUM = skipUnlessInstalled(PATH, NOT_INSTALLED);

export interface Chromium {
  /** Opens a page in a new context without cookies. The context closes with the page. */
  page(options?: BrowserContextOptions): Promise<Page>;
  close(): Promise<void>;
}

const errorsByPage = new WeakMap<Page, string[]>();

export async function openChromium(): Promise<Chromium> {
  if (PATH === null) throw new Error(NOT_INSTALLED);
  const browser = await chromium.launch({ executablePath: PATH, args: FLAGS, timeout: 60_000 });
  return {
    page: async (options = {}) => {
      const context = await browser.newContext({ viewport: { width: 1280, height: 800 }, ...options });
      context.setDefaultTimeout(ACTION_TIMEOUT_MS);
      const page = await context.newPage();
      collectErrors(page);
      page.once('close', () => void context.close().catch(() => undefined));
      return page;
    },
    close: () => browser.close(),
  };
}

/**
 * Returns the page's errors so far: script exceptions, content security policy violations, and failed
 * requests.
 */
export function pageErrors(page: Page): readonly string[] {
  return errorsByPage.get(page) ?? [];
}

function collectErrors(page: Page): void {
  const errors: string[] = [];
  errorsByPage.set(page, errors);
  page.on('pageerror', (error) => errors.push(error.message));
  page.on('console', (message) => {
    if (message.type() === 'error') errors.push(message.text());
  });
  page.on('requestfailed', (request) => {
    if (isAbandoned(request)) return;
    errors.push(`${request.method()} ${request.url()}: ${request.failure()?.errorText ?? 'failed'}`);
  });
}

/** Leaving a page aborts its event stream and, before it has loaded, its navigation and its fetches. */
function isAbandoned(request: Request): boolean {
  const isOfPage = request.isNavigationRequest() || ['fetch', 'eventsource'].includes(request.resourceType());
  return isOfPage && request.failure()?.errorText === 'net::ERR_ABORTED';
}
