/** Checks that tests run on every page in Chromium. */
import type { Page } from 'playwright-core';
import { type Chromium, openChromium } from '../../support/chromium.ts';
import type { Example } from './examples.ts';

/** Returns the URL of a page without automatic reloads. */
export function withoutAutoRefresh(path: string): string {
  return `${path}${path.includes('?') ? '&' : '?'}still=1`;
}

/** Two tabs: one of the signed-in customer and one of a visitor. */
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

  /** Opens a page. The tab is reused for the next one. */
  async open({ path, visitor }: Pick<Example, 'path' | 'visitor'>): Promise<{ page: Page; status: number }> {
    const page = await this.#tab(visitor);
    const response = await page.goto(`${this.#url}${withoutAutoRefresh(path)}`);
    return { page, status: response?.status() ?? 0 };
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

/** Expands all collapsed parts, so that they are checked too. */
export async function expandDetails(page: Page): Promise<void> {
  await page.evaluate(`for (const fold of document.querySelectorAll('details')) fold.open = true`);
}

/** Returns by how many pixels the page exceeds its window. Parts that scroll on their own do not count. */
export async function horizontalOverflow(page: Page): Promise<number> {
  return await page.evaluate<number>('document.scrollingElement.scrollWidth - innerWidth');
}

/** The focused element, and whether its focus is visible. */
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
    // A date field marks only the part that is being edited.
    const hasOutline = outlineStyle !== 'none' && parseFloat(outlineWidth) > 0;
    const marked = at.matches('[type^=date]') || hasOutline || boxShadow !== 'none';
    const shown = box.width > 1 && box.height > 1 && box.right > 0 && box.bottom > 0;
    ({ what: at.outerHTML.slice(0, 120), visible: marked && shown })
  }`);
}

/**
 * Returns the readable text of the page's main part. Leaves out copy buttons, which need scripts, countdowns,
 * and selects, which browsers read differently.
 */
export const MAIN_TEXT = `{
  for (const it of document.querySelectorAll('.copy-button, [data-until], select')) it.remove();
  for (const fold of document.querySelectorAll('details')) fold.open = true;
  document.querySelector('main').innerText.replace(/\\s+/g, ' ').trim()
}`;
