/** Somebody at a browser, who reads, types and clicks. */
import assert from 'node:assert/strict';
import type { Locator, Page } from 'playwright-core';
import type { World } from '../../support/world.ts';

/** What is typed or chosen, by the label that stands at it; true ticks a box or takes one of several. */
type Typed = Readonly<Record<string, string | true>>;

const LOADS_MAX = 60;

export class BrowserUser {
  readonly page: Page;
  readonly world: World;

  constructor(page: Page, world: World) {
    this.page = page;
    this.world = world;
  }

  /** By the address bar. */
  async open(path: string): Promise<void> {
    const answer = await this.page.goto(`${this.world.url}${path}`);
    assert.equal(answer?.status(), 200, path);
  }

  get path(): string {
    return this.page.url().slice(this.world.url.length).split('?')[0] ?? '';
  }

  /** Follows a link of the page by its words. */
  async followLink(words: string): Promise<void> {
    const link = this.page.getByRole('link', { name: words, exact: true }).first();
    await this.#clickAndWait(() => link.click());
  }

  /** Fills in a form and presses its button. What is folded up is unfolded first. */
  async submitForm(form: string, button: string, typed: Typed = {}): Promise<void> {
    const at = this.page.locator(`form:has(> input[name=_form][value="${form}"])`).first();
    await this.#expandDetails();
    for (const [label, text] of Object.entries(typed)) await fill(at.getByLabel(label).first(), text);
    const pressed = at.getByRole('button', { name: button, exact: true }).first();
    await this.#clickAndWait(() => pressed.click());
  }

  /** Fails unless the text stands on the page. */
  async expectText(text: string | RegExp): Promise<void> {
    await this.page
      .getByText(text)
      .first()
      .waitFor({ timeout: 5_000 })
      .catch(async () => {
        assert.fail(`${this.path} does not say ${text}: ${await this.#text()}`);
      });
  }

  /** Loads the page again until the text stands on it. */
  async reloadUntil(text: RegExp): Promise<void> {
    for (let loads = 0; loads < LOADS_MAX; loads += 1) {
      if (text.test(await this.#text())) return;
      await this.world.settle();
      await this.page.reload();
    }
    assert.fail(`${this.path} never says ${text}: ${await this.#text()}`);
  }

  /** The text of what may be copied, in its order. */
  async copyableTexts(): Promise<readonly string[]> {
    return await this.page.locator('main [data-copy]').allTextContents();
  }

  async #text(): Promise<string> {
    return (await this.page.locator('main').textContent()) ?? '';
  }

  async #expandDetails(): Promise<void> {
    const closed = this.page.locator('main details:not([open]) > summary');
    while ((await closed.count()) > 0) await closed.first().click();
  }

  async #clickAndWait(click: () => Promise<void>): Promise<void> {
    const left = this.page.waitForNavigation({ waitUntil: 'load' });
    await Promise.all([left, click()]);
  }
}

async function fill(control: Locator, text: string | true): Promise<void> {
  if (text === true) return await control.check();
  const tag = await control.evaluate((element) => element.tagName);
  if (tag !== 'SELECT') return await control.fill(text);
  const option = control.locator('option', { hasText: text }).first();
  await control.selectOption((await option.getAttribute('value')) ?? text);
}
