/**
 * Debian's Firefox for the tests of the panel, over WebDriver BiDi, set up as Tor Browser at its safest: no scripts, no SVG.
 *
 * It is our own child, in our process group, so that whatever stops a run of tests stops it too. Its profile is a folder of
 * its own, its proxy takes nothing: it reaches this machine only.
 *
 * With scripts off, the browser still evaluates for a test what runs at once: `evaluate`, text, sizes, boxes. Whatever waits
 * for the page (timers, observers, promises) never comes: of puppeteer's page do not use `click`, `locator` or `waitForSelector`,
 * but what is here.
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

/** Tor Browser's safest level, as far as it is a matter of preferences. */
export const SAFEST_PREFERENCES: Preferences = {
  'javascript.enabled': false,
  'svg.disabled': true,
  'mathml.disabled': true,
  'gfx.downloadable_fonts.enabled': false,
};

/** Nothing from elsewhere: names and addresses that are not this machine go to a port that takes nothing. */
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

/** One process for pages and little on the disk: it starts in half the time. */
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
  // Puppeteer counts on one process for all pages.
  'fission.webContentIsolationStrategy': 0,
  'layers.gpu-process.enabled': false,
  'media.rdd-process.enabled': false,
  'media.utility-process.enabled': false,
  'toolkit.storage.synchronous': 0,
};

/** Why tests that need Firefox are skipped, or false. */
export const NO_FIREFOX = skipUnlessInstalled(PATH, NOT_INSTALLED);

export interface Firefox {
  /** A tab without cookies. */
  tab(): Promise<FirefoxTab>;
  close(): Promise<void>;
}

export async function openFirefox(options: { readonly preferences?: Preferences } = {}): Promise<Firefox> {
  if (PATH === null) throw new Error(NOT_INSTALLED);
  const profile = await mkdtemp(join(tmpdir(), 'skerry-firefox-'));
  let child: ChildProcess | null = null;
  // Asked to leave, it takes up to five seconds to write down what nobody reads.
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

/** Where Firefox listens: it says so among its complaints. What it says later is read too, or it would block. */
function waitForEndpoint(child: ChildProcess): Promise<string> {
  const { promise, resolve, reject } = Promise.withResolvers<string>();
  const timer = setTimeout(() => reject(new Error('Firefox did not start in time')), START_TIMEOUT_MS);
  if (child.stderr === null) throw new Error('Firefox was started without a pipe');
  createInterface({ input: child.stderr }).on('line', (line) => {
    const found = /WebDriver BiDi listening on (ws:\S+)/.exec(line)?.[1];
    if (found !== undefined) resolve(found);
  });
  child.once('error', reject);
  child.once('exit', (code) => reject(new Error(`Firefox left with code ${code} before it listened`)));
  return promise.finally(() => clearTimeout(timer));
}

async function killAndWait(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const exit = once(child, 'exit');
  child.kill('SIGKILL');
  await exit;
}
