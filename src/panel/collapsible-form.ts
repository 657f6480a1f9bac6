/** A form that is rarely wanted: folded, with a word on what it does; open when it comes back refused. */
import { type FormContext, form } from './form.ts';
import { Html, html } from './html.ts';

export function collapsibleForm(
  forms: FormContext,
  name: string,
  {
    summary,
    words: description,
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
${description !== undefined && html`<p>${description}</p>`}
${form(forms, { name }, content)}</details>`;
}
