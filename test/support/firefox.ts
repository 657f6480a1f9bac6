/**
 * Debian's Firefox for panel tests, over WebDriver BiDi, configured like Tor Browser's Safest level: no
 * scripts, no SVG.
 *
 * The browser is our own child in our process group, so a signal that stops the test run also stops it. It
 * has a temporary profile, and its proxy accepts nothing, so it reaches only this machine.
 *
 * With scripts off, the browser still evaluates synchronous expressions for a test: `evaluate`, text, sizes,
 * boxes. Anything that waits in the page (timers, observers, promises) never resolves. Do not use puppeteer's
 * `click`, `locator`, or `waitForSelector`; use the methods of FirefoxTab.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { type Browser, connect } from 'puppeteer-core';
import { FirefoxTab } from './firefox-tab.ts';
import { findProgram, skipUnlessInstalled } from './installed-programs.ts';

const NOT_INSTALLED = 'Firefox is not installed: apt-get install firefox-esr';
const PATH = findProgram(['firefox-esr', 'firefox']);
const START_TIMEOUT_MS = 60_000;

type Preferences = Readonly<Record<string, boolean | number | string>>;

/** Tor Browser's Safest level, as far as preferences can set it. */
export const SAFEST_PREFERENCES: Preferences = {
  'javascript.enabled': false,
  'svg.disabled': true,
  'mathml.disabled': true,
  'gfx.downloadable_fonts.enabled': false,
};

/** Blocks other hosts: every request except to this machine goes to a port where nothing listens. */
const NO_NETWORK: Preferences = {
  'network.proxy.type': 1,
  'network.proxy.http': '127.0.0.1',
  'network.proxy.http_port': 9,
  'network.proxy.ssl': '127.0.0.1',
  'network.proxy.ssl_port': 9,
  'network.captive-portal-service.enabled': false,
  'network.connectivity-service.enabled': false,
  'app.normandy.enabled': false,
  'app.update.disabledForTesting': true,
  'browser.safebrowsing.update.enabled': false,
  'datareporting.policy.dataSubmissionEnabled': false,
  'services.settings.server': 'data:,#none',
  'toolkit.telemetry.enabled': false,
};

/** One content process and few disk writes: halves the start time. */
const FAST_START: Preferences = {
  'browser.aboutwelcome.enabled': false,
  'browser.cache.disk.enable': false,
  'browser.newtabpage.enabled': false,
  'browser.shell.checkDefaultBrowser': false,
  'browser.startup.homepage_override.mstone': 'ignore',
  'browser.startup.page': 0,
  'browser.tabs.remote.separatePrivilegedContentProcess': false,
  'dom.ipc.processCount': 1,
  'dom.ipc.processPrelaunch.enabled': false,
  'extensions.enabledScopes': 0,
  // Puppeteer expects one process for all pages.
  'fission.webContentIsolationStrategy': 0,
  'layers.gpu-process.enabled': false,
  'media.rdd-process.enabled': false,
  'media.utility-process.enabled': false,
  'toolkit.storage.synchronous': 0,
};

/** The reason to skip tests that need Firefox, or false. */
export const NO_FIREFOX = skipUnlessInstalled(PATH, NOT_INSTALLED);

export interface Firefox {
  /** Opens a tab without cookies. */
  tab(): Promise<FirefoxTab>;
  close(): Promise<void>;
}

export async function openFirefox(options: { readonly preferences?: Preferences } = {}): Promise<Firefox> {
  if (PATH === null) throw new Error(NOT_INSTALLED);
  const profile = await mkdtemp(join(tmpdir(), 'skerry-firefox-'));
  let child: ChildProcess | null = null;
  // Kill it: a regular shutdown spends up to five seconds on writing a profile that is never read.
  const cleanUp = async () => {
    if (child !== null) await killAndWait(child);
    await rm(profile, { recursive: true, force: true, maxRetries: 5 });
  };
  try {
    await writeFile(
      join(profile, 'user.js'),
      formatUserJs({ ...NO_NETWORK, ...FAST_START, ...(options.preferences ?? SAFEST_PREFERENCES) }),
    );
    const args = ['--headless', '--no-remote', '--profile', profile, '--remote-debugging-port', '0'];
    child = spawn(PATH, args, { stdio: ['ignore', 'ignore', 'pipe'] });
    const browserWSEndpoint = `${await waitForEndpoint(child)}/session`;
    const browser = await connect({ browserWSEndpoint, protocol: 'webDriverBiDi', defaultViewport: null });
    return {
      tab: () => openTab(browser),
      close: async () => {
        await browser.disconnect();
        await cleanUp();
      },
    };
  } catch (error) {
    await cleanUp();
    throw error;
  }
}

async function openTab(browser: Browser): Promise<FirefoxTab> {
  const context = await browser.createBrowserContext();
  const page = await context.newPage();
  await page.setViewport({ width: 1280, height: 800 });
  return new FirefoxTab(page, () => context.close());
}

function formatUserJs(preferences: Preferences): string {
  const lines = Object.entries(preferences).map(
    ([name, value]) => `user_pref(${JSON.stringify(name)}, ${JSON.stringify(value)});`,
  );
  return `${lines.join('\n')}\n`;
}

/**
 * Returns the BiDi endpoint from stderr. Keeps reading stderr afterwards: a full pipe would block Firefox.
 */
function waitForEndpoint(child: ChildProcess): Promise<string> {
  const { promise, resolve, reject } = Promise.withResolvers<string>();
  const timer = setTimeout(() => reject(new Error('Firefox did not start in time')), START_TIMEOUT_MS);
  if (child.stderr === null) throw new Error('Firefox was started without a pipe');
  createInterface({ input: child.stderr }).on('line', (line) => {
    const found = /WebDriver BiDi listening on (ws:\S+)/.exec(line)?.[1];
    if (found !== undefined) resolve(found);
  });
  child.once('error', reject);
  child.once('exit', (code) => reject(new Error(`Firefox exited with code ${code} before it was ready`)));
  return promise.finally(() => clearTimeout(timer));
}

async function killAndWait(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const exit = once(child, 'exit');
  child.kill('SIGKILL');
  await exit;
}
