/** Parts that pages of the console share. */
import { emptyState } from '../parts/components.ts';
import { type Fields, type FormContext, form } from '../parts/form.ts';
import { type Html, type HtmlValue, html } from '../parts/html.ts';

/** How often a page of the console fetches itself while it is visible. */
export const UPDATES_EVERY_S = 10;

/** Returns the field for the reason, which acts on money, data, and customers' machines require. */
export function reasonField(fields: Fields, value?: string): Html {
  return fields.text('reason', 'Reason', {
    required: true,
    maxLength: 500,
    ...(value !== undefined && { value }),
    hint: 'For the staff log. The customer does not see it.',
  });
}

/** A form that is folded until someone opens it. A refused one stays open. */
export function actForm(
  forms: FormContext,
  act: {
    readonly name: string;
    readonly title: string;
    /** Null: the content has all buttons. */
    readonly button: string | null;
    readonly danger?: true;
    readonly isOpen?: boolean;
  },
  content: HtmlValue,
): Html {
  const isOpen = act.isOpen || forms.refused?.name === act.name;
  const tone = act.danger ? html` class="danger"` : null;
  const button = act.button === null ? null : html`<button${tone}>${act.button}</button>`;
  return html`<details class="fold"${isOpen && html` open`}><summary>${act.title}</summary>
${form(forms, { name: act.name }, html`${content}\n${button}`)}</details>`;
}

/** Formats a count with its noun: `3 servers`, `1 server`. */
export function counted(count: number, one: string): string {
  return `${count} ${one}${count === 1 ? '' : 's'}`;
}

/** Cuts a long ID, or a list of names. The title has all of it. */
export function shortId(text: string | null): HtmlValue {
  if (text === null || text.length <= 20) return text;
  const [first, ...others] = text.split(' ');
  if (others.length > 0) return html`<span title="${text}">${first} and ${others.length} more</span>`;
  return html`<code class="txid" title="${text}">${text}</code>`;
}

export function nothingFound(what: string): Html {
  return emptyState(`No ${what}`, 'Nothing matches. Change the search or the filters.');
}

/** Returns a form of filters, whose result is a URL to keep. */
export function filterForm(action: string, content: HtmlValue, button = 'Filter'): Html {
  return html`<form class="filters row" method="get" action="${action}" role="search"
aria-label="${button}">${content}
<button class="plain">${button}</button></form>`;
}

export function filterField(name: string, label: string, value: string): Html {
  return html`<label class="field"><span>${label}</span>
<input name="${name}" value="${value}" maxlength="255"></label>\n`;
}

export function filterChoice(name: string, label: string, value: string, choices: readonly string[]): Html {
  const options = ['', ...choices].map((each) => {
    const selected = each === value && html` selected`;
    return html`<option value="${each}"${selected}>${each === '' ? 'Any' : each}</option>`;
  });
  return html`<label class="field"><span>${label}</span>
<select name="${name}">${options}</select></label>\n`;
}
