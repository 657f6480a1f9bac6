/** Protection of a resource against its own customer's calls: the form, and the notes that it causes. */
import { section } from './components.ts';
import { Fields, type FormContext, form } from './form.ts';
import { type Html, html } from './html.ts';

interface Shown {
  readonly delete: boolean;
  /** Absent where nothing can be rebuilt. */
  readonly rebuild?: boolean;
}

/** The fields of the form, and the members of `protection` that they set. */
export const PROTECTION_FIELDS = { delete: 'protect_delete', rebuild: 'protect_rebuild' } as const;

/** `noun`: `server`. `hint` says which deletion remains possible. */
export function protectionSection(forms: FormContext, noun: string, protection: Shown, hint?: string): Html {
  const fields = new Fields(forms, 'protect');
  return section(
    'Protection',
    html`<p>While a protection is on, we refuse the action here and in the API.</p>
${form(
  forms,
  { name: 'protect' },
  html`${fields.checkbox(PROTECTION_FIELDS.delete, `Protect this ${noun} from deletion`, {
    value: protection.delete,
    ...(hint === undefined ? {} : { hint }),
  })}
${
  protection.rebuild !== undefined &&
  fields.checkbox(PROTECTION_FIELDS.rebuild, 'Protect its disk from rebuild and restore', {
    value: protection.rebuild,
  })
}
<button class="plain">Save protection</button>`,
)}`,
  );
}

export function protectedNote(what: string, settingsPath?: string): Html {
  const where = settingsPath === undefined ? 'above' : html`in its <a href="${settingsPath}">settings</a>`;
  return html`<p>${what} Turn the protection off ${where} first.</p>`;
}
