/** What a list is narrowed down by: a form whose choices stand in the page's address. */
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

/** `chosen` is what the list is filtered by now. */
export function listFilterForm(
  path: string,
  chosen: Readonly<Record<string, string>>,
  content: (fields: Fields) => Html,
): Html {
  return html`<form method="get" action="${path}" class="filters row" aria-label="Narrow the list down">
${content(new Fields(EMPTY_CONTEXT, 'filter'))}
<button class="plain">Show</button>${Object.keys(chosen).length > 0 && html` <a href="${path}">Show all</a>`}
</form>`;
}
