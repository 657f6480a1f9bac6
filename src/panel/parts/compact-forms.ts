/** A rarely used form, collapsed until needed. It opens if it was rejected. */
import { Fields, type FormContext, form } from './form.ts';
import { Html, html } from './html.ts';

export function collapsibleForm(
  forms: FormContext,
  name: string,
  {
    summary,
    description,
    content,
    open = false,
  }: {
    readonly summary: string;
    /** Explains the form in one sentence. */
    readonly description?: string;
    readonly content: Html;
    readonly open?: boolean;
  },
): Html {
  const isOpen = (open || forms.refused?.name === name) && new Html(' open');
  return html`<details${isOpen}><summary>${summary}</summary>
${description !== undefined && html`<p>${description}</p>`}
${form(forms, { name }, content)}</details>`;
}

const EMPTY_CONTEXT: FormContext = {
  csrf: '',
  submissionKey: '',
  refused: null,
  values: new Map(),
  problems: [],
  failure: null,
};

/** `chosen` holds the current filters. */
export function listFilterForm(
  path: string,
  chosen: Readonly<Record<string, string>>,
  content: (fields: Fields) => Html,
): Html {
  return html`<form method="get" action="${path}" class="filters row" aria-label="Filter this list">
${content(new Fields(EMPTY_CONTEXT, 'filter'))}
<button class="plain">Apply</button>${
    Object.keys(chosen).length > 0 && html` <a href="${path}">Clear filters</a>`
  }
</form>`;
}
