/** A list's filter: a form whose choices are part of the page's URL. */
import { Fields, type FormContext } from './form.ts';
import { type Html, html } from './html.ts';

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
