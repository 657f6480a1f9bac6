/** HTML that escapes by itself: every value put into the template is text, unless it was made by the template. */
export class Html {
  readonly text: string;
  constructor(text: string) {
    this.text = text;
  }
  toString(): string {
    return this.text;
  }
}

/** What can be put into the template. */
export type HtmlValue = Html | string | number | bigint | null | undefined | false | readonly HtmlValue[];

/** `` html`<p>${name}</p>` ``: null, undefined and false print nothing, a list prints its items. */
export function html(parts: TemplateStringsArray, ...values: readonly HtmlValue[]): Html {
  return new Html(parts.reduce((text, part, index) => text + renderValue(values[index - 1]) + part));
}

function renderValue(value: HtmlValue): string {
  if (value === null || value === undefined || value === false) return '';
  if (value instanceof Html) return value.text;
  if (typeof value === 'object') return value.map(renderValue).join('');
  return String(value).replace(/[&<>"'`]/g, (sign) => `&#${sign.charCodeAt(0)};`);
}
