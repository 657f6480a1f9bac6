/** Labels of servers, volumes, and snapshots: in forms, on their pages, and in the filter of a list. */
import type { Fields } from './form.ts';
import { type Html, html } from './html.ts';

type Labels = Readonly<Record<string, string>>;

/** A field for labels. `value` is its text. */
export function labelsField(fields: Fields, title: string, value: string): Html {
  return fields.textarea('labels', title, { value, rows: 3, hint: 'One per line: name=value.' });
}

/** The text of the labels in their field. */
export function formatLabels(labels: Labels): string {
  return Object.entries(labels)
    .map(([name, value]) => `${name}=${value}`)
    .join('\n');
}

/** Links each label to the items that have it. Null without labels. */
export function labelLinks(listPath: string, labels: Labels): Html | null {
  const links = Object.entries(labels).map(
    ([name, value]) => html`${labelLink(listPath, [name, value], `${name}=${value}`)} `,
  );
  return links.length > 0 ? html`${links}` : null;
}

export function labelLink(listPath: string, [name, value]: readonly [string, string], text: string): Html {
  const query = new URLSearchParams({ label: `${name}:${value}` });
  return html`<a href="${listPath}?${query.toString()}">${text}</a>`;
}

/** The field of a list's filter by one label. */
export function labelFilterField(fields: Fields, { label = '' }: Readonly<Record<string, string>>): Html {
  return fields.text('label', 'Label', {
    value: label.replace(':', '='),
    placeholder: 'name=value',
    size: 14,
  });
}
