/** Filters of the server list that the customer saved: links to open them, and forms to save and delete. */
import { LIMITS } from '../../spec/limits.ts';
import { PANEL_FIELDS, PANEL_PATHS } from '../../spec/paths.ts';
import { Fields, type FormContext, form } from '../parts/form.ts';
import { Html, html } from '../parts/html.ts';
import { type ListState, listPath } from './bulk.ts';

export interface SavedFilter {
  readonly id: string;
  readonly name: string;
  /** The query of the list's URL. */
  readonly query: string;
}

interface SavedFilters {
  readonly saved: readonly SavedFilter[];
  readonly state: ListState;
  readonly forms: FormContext;
}

/** The part of the list's state that is saved: not the page. */
export function savedQuery(state: ListState): string {
  const { cursor: _, ...kept } = state;
  return new URLSearchParams(kept).toString();
}

export function savedFilters(data: SavedFilters): Html | null {
  const { saved, forms } = data;
  const current = savedQuery(data.state);
  if (saved.length === 0 && current === '') return null;
  const isRefused = forms.refused !== null && ['save_filter', 'delete_filter'].includes(forms.refused.name);
  const isNew = current !== '' && saved.every(({ query }) => query !== current);
  return html`${saved.length > 0 && links(saved, current)}
${
  (isNew || saved.length > 0) &&
  html`<details class="saved"${isRefused && new Html(' open')}><summary>${
    isNew ? 'Save this filter' : 'Delete saved filters'
  }</summary>
${isNew && saveForm(data, current)}${saved.length > 0 && deleteForm(data)}</details>`
}`;
}

function links(saved: readonly SavedFilter[], current: string): Html {
  const items = saved.map(({ name, query }) => {
    const here = query === current && new Html(' aria-current="true"');
    return html`<a href="${PANEL_PATHS.servers}?${query}"${here}>${name}</a> `;
  });
  return html`<p class="sorts"><span class="soft">Saved filters:</span> ${items}</p>`;
}

function saveForm({ forms, state }: SavedFilters, current: string): Html {
  const fields = new Fields(forms, 'save_filter');
  return form(
    forms,
    { name: 'save_filter', action: listPath(state) },
    html`<input type="hidden" name="query" value="${current}">
${fields.text('name', 'Name of the filter', {
  required: true,
  maxLength: LIMITS.nameMaxChars,
  autocomplete: 'off',
  hint: `Keeps the filters and the sort order. You can save ${LIMITS.savedFiltersMax}.`,
})}
<button class="plain">Save filter</button>`,
  );
}

function deleteForm({ forms, saved, state }: SavedFilters): Html {
  const buttons = saved.map(
    ({ id, name }) =>
      html`<button class="quiet" name="${PANEL_FIELDS.key}" value="${id}">Delete ${name}</button>\n`,
  );
  return form(forms, { name: 'delete_filter', action: listPath(state), class: 'row' }, html`${buttons}`);
}
