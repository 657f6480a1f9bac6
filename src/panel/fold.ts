/** A form that is rarely wanted: folded, with a word on what it does; open when it comes back refused. */
import { type FormContext, form } from './form.ts';
import { Html, html } from './html.ts';

export function foldedForm(
  forms: FormContext,
  name: string,
  {
    summary,
    words,
    content,
    open = false,
  }: {
    readonly summary: string;
    /** What it does, in a sentence. */
    readonly words?: string;
    readonly content: Html;
    readonly open?: boolean;
  },
): Html {
  return html`<details${(open || forms.refused?.name === name) && new Html(' open')}><summary>${summary}</summary>
${words !== undefined && html`<p>${words}</p>`}
${form(forms, { name }, content)}</details>`;
}
