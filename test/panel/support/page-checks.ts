/** What tests of all pages ask of one page in Chromium. */
import type { Page } from 'playwright-core';
import { type Chromium, openChromium } from '../../support/chromium.ts';
import type { Example } from './examples.ts';

/** The address at which a page does not load itself again while one looks at it. */
export function withoutAutoRefresh(path: string): string {
  return `${path}${path.includes('?') ? '&' : '?'}still=1`;
}

/** Two browsers in one: of the customer who is signed in, and of somebody who is not. */
export class PageBrowser {
  readonly #chromium: Chromium;
  readonly #url: string;
  readonly #cookie: string;
  readonly #pages = new Map<boolean, Page>();

  private constructor(chromium: Chromium, url: string, cookie: string) {
    this.#chromium = chromium;
    this.#url = url;
    this.#cookie = cookie;
  }

  static async start(url: string, cookie: string | undefined): Promise<PageBrowser> {
    return new PageBrowser(await openChromium(), url, cookie ?? '');
  }

  /** The page, opened; the tab is used again for the next one. */
  async open({ path, visitor }: Pick<Example, 'path' | 'visitor'>): Promise<{ page: Page; status: number }> {
    const page = await this.#tab(visitor);
    const answer = await page.goto(`${this.#url}${withoutAutoRefresh(path)}`);
    return { page, status: answer?.status() ?? 0 };
  }

  async close(): Promise<void> {
    await this.#chromium.close();
  }

  async #tab(visitor: boolean): Promise<Page> {
    const open = this.#pages.get(visitor);
    if (open) return open;
    const page = await this.#chromium.page();
    if (!visitor)
      await page.context().addCookies([{ name: 'PHPSESSID', value: this.#cookie, url: this.#url }]);
    this.#pages.set(visitor, page);
    return page;
  }
}

/** What is folded up counts, too. */
export async function expandDetails(page: Page): Promise<void> {
  await page.evaluate(`for (const fold of document.querySelectorAll('details')) fold.open = true`);
}

/** By how much the page is wider than its window; 0: it is not. What scrolls within itself does not count. */
export async function horizontalOverflow(page: Page): Promise<number> {
  return await page.evaluate<number>('document.scrollingElement.scrollWidth - innerWidth');
}

/** What has the focus, and whether one can see that. */
export interface FocusState {
  readonly what: string;
  readonly visible: boolean;
}

export async function focusAfterTab(page: Page): Promise<FocusState> {
  await page.keyboard.press('Tab');
  return await page.evaluate<FocusState>(`{
    const at = document.activeElement;
    const { outlineStyle, outlineWidth, boxShadow } = getComputedStyle(at);
    const box = at.getBoundingClientRect();
    // A field for a date marks the part of it that one is in.
    const marked = at.matches('[type^=date]') || (outlineStyle !== 'none' && parseFloat(outlineWidth) > 0) || boxShadow !== 'none';
    const shown = box.width > 1 && box.height > 1 && box.right > 0 && box.bottom > 0;
    ({ what: at.outerHTML.slice(0, 120), visible: marked && shown })
  }`);
}

/**
 * What can be read in the page's main part, a space between words. Without what only scripts are for (buttons that copy),
 * what goes on by the second, and lists to choose from, which browsers read out differently.
 */
export const MAIN_TEXT = `{
  for (const it of document.querySelectorAll('.copy-button, [data-until], select')) it.remove();
  for (const fold of document.querySelectorAll('details')) fold.open = true;
  document.querySelector('main').innerText.replace(/\\s+/g, ' ').trim()
}`;
