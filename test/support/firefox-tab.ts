/** What a test does with a page in Firefox while scripts are off. */
import type { Page } from 'puppeteer-core';

const NAVIGATION_TIMEOUT_MS = 15_000;

export interface PageImage {
  readonly src: string;
  readonly alt: string;
  /** Its own size in pixels; 0 when it did not load. */
  readonly width: number;
  readonly height: number;
}

interface Box {
  readonly x: number;
  readonly y: number;
  readonly width: number;
  readonly height: number;
}

export class FirefoxTab implements AsyncDisposable {
  readonly page: Page;
  readonly #close: () => Promise<void>;

  constructor(page: Page, close: () => Promise<void>) {
    this.page = page;
    this.#close = close;
    page.setDefaultTimeout(NAVIGATION_TIMEOUT_MS);
  }

  /** Resolves to the status of the answer when page and pictures are there. */
  async open(url: string): Promise<number> {
    const answer = await this.page.goto(url, { waitUntil: 'load' });
    return answer?.status() ?? 0;
  }

  get url(): string {
    return this.page.url();
  }

  async title(): Promise<string> {
    return await this.#evaluate<string>('document.title');
  }

  /** What can be read on the page, as it stands there: hidden text is left out. */
  async text(): Promise<string> {
    return await this.#evaluate<string>('document.body.innerText');
  }

  async images(): Promise<PageImage[]> {
    const sizes =
      '({ src, alt, naturalWidth: width, naturalHeight: height }) => ({ src, alt, width, height })';
    return await this.#evaluate<PageImage[]>(`[...document.images].map(${sizes})`);
  }

  /** Types into a field in place of what it holds. */
  async fill(selector: string, text: string): Promise<void> {
    await this.#onElement(selector, 'focus(), it.select()');
    await (text === '' ? this.page.keyboard.press('Backspace') : this.page.keyboard.type(text));
  }

  /** Chooses an option of a `select` by its value. */
  async selectOption(selector: string, value: string): Promise<void> {
    await this.page.select(selector, value);
  }

  /** Clicks on what leads to no other page: a box, a `summary`. */
  async click(selector: string): Promise<void> {
    await this.#onElement(selector, `scrollIntoView({ block: 'center', behavior: 'instant' })`);
    const box = await this.#onElement<Box>(selector, 'getBoundingClientRect().toJSON()');
    if (box.width === 0) throw new Error(`${selector} is not shown`);
    await this.page.mouse.click(box.x + box.width / 2, box.y + box.height / 2);
  }

  /** Clicks on a button or a link and waits for the page that it leads to. */
  async clickAndWait(selector: string): Promise<void> {
    await Promise.all([this.page.waitForNavigation({ waitUntil: 'load' }), this.click(selector)]);
  }

  /** A PNG of the whole page. */
  async screenshot(): Promise<Buffer> {
    return Buffer.from(await this.page.screenshot({ fullPage: true }));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#close();
  }

  async #onElement<T>(selector: string, what: string): Promise<T> {
    const exists = await this.#evaluate<boolean>(
      `document.querySelector(${JSON.stringify(selector)}) !== null`,
    );
    if (!exists) throw new Error(`there is no ${selector} on ${this.page.url()}`);
    return await this.#evaluate<T>(
      `{ const it = document.querySelector(${JSON.stringify(selector)}); it.${what} }`,
    );
  }

  async #evaluate<T>(expression: string): Promise<T> {
    return (await this.page.evaluate(expression)) as T;
  }
}
