/** A rarely used form, collapsed until needed. It opens if it was rejected. */
import { type FormContext, form } from './form.ts';
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
