/** Page actions for tests in Firefox while scripts are off. */
import type { Page } from 'puppeteer-core';

const NAVIGATION_TIMEOUT_MS = 15_000;

export interface PageImage {
  readonly src: string;
  readonly alt: string;
  /** The image's intrinsic size in pixels; 0 if it did not load. */
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

  /** Resolves to the response's status when the page and its images have loaded. */
  async open(url: string): Promise<number> {
    const response = await this.page.goto(url, { waitUntil: 'load' });
    return response?.status() ?? 0;
  }

  get url(): string {
    return this.page.url();
  }

  async title(): Promise<string> {
    return await this.#evaluate<string>('document.title');
  }

  /** Returns the visible text of the page. */
  async text(): Promise<string> {
    return await this.#evaluate<string>('document.body.innerText');
  }

  async images(): Promise<PageImage[]> {
    const sizes =
      '({ src, alt, naturalWidth: width, naturalHeight: height }) => ({ src, alt, width, height })';
    return await this.#evaluate<PageImage[]>(`[...document.images].map(${sizes})`);
  }

  /** Types into a field, replacing its contents. */
  async fill(selector: string, text: string): Promise<void> {
    await this.#onElement(selector, 'focus(), element.select()');
    await (text === '' ? this.page.keyboard.press('Backspace') : this.page.keyboard.type(text));
  }

  /** Selects an option of a `select` by its value. */
  async selectOption(selector: string, value: string): Promise<void> {
    await this.page.select(selector, value);
  }

  /** Clicks an element that does not navigate, such as a checkbox or a `summary`. */
  async click(selector: string): Promise<void> {
    await this.#onElement(selector, `scrollIntoView({ block: 'center', behavior: 'instant' })`);
    const box = await this.#onElement<Box>(selector, 'getBoundingClientRect().toJSON()');
    if (box.width === 0) throw new Error(`${selector} is not shown`);
    await this.page.mouse.click(box.x + box.width / 2, box.y + box.height / 2);
  }

  /** Clicks a button or a link and waits for the page that it opens. */
  async clickAndWait(selector: string): Promise<void> {
    await Promise.all([this.page.waitForNavigation({ waitUntil: 'load' }), this.click(selector)]);
  }

  /** Takes a PNG of the whole page. */
  async screenshot(): Promise<Buffer> {
    return Buffer.from(await this.page.screenshot({ fullPage: true }));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#close();
  }

  async #onElement<T>(selector: string, member: string): Promise<T> {
    const exists = await this.#evaluate<boolean>(
      `document.querySelector(${JSON.stringify(selector)}) !== null`,
    );
    if (!exists) throw new Error(`${selector} not found on ${this.page.url()}`);
    return await this.#evaluate<T>(
      `{ const element = document.querySelector(${JSON.stringify(selector)}); element.${member} }`,
    );
  }

  async #evaluate<T>(expression: string): Promise<T> {
    return (await this.page.evaluate(expression)) as T;
  }
}
