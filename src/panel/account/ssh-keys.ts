/** SSH keys: the list with a form to add one, and the page of one key. */
import { PANEL_PATHS, resourcePath } from '../../spec/paths.ts';
import type { ListedSshKey, SshKey } from '../../spec/schemas/ssh-key.ts';
import { day, detailList, emptyState, pager, section, sectionLink, table } from '../parts/components.ts';
import { Fields, type FormContext, form } from '../parts/form.ts';
import { type Html, html } from '../parts/html.ts';
import { labelsOf } from '../parts/labels.ts';
import type { View } from '../parts/layout.ts';

export function sshKeysView(data: {
  readonly keys: readonly ListedSshKey[];
  readonly next: string | null;
  readonly first: string | null;
  readonly forms: FormContext;
}): View {
  const label = labelsOf(data.keys);
  const rows = data.keys.map((key) => [
    html`<a href="${resourcePath(PANEL_PATHS.keys, key.id)}">${label(key)}</a>`,
    key.type,
    html`<code>${key.fingerprint}</code>`,
    day(key.created_at),
  ]);
  const list =
    rows.length > 0
      ? table({ caption: 'SSH keys', columns: ['Name', 'Type', 'Fingerprint', 'Added'], rows })
      : emptyState(
          'No SSH keys yet.',
          'Add a key below, then choose it when you deploy a server.',
          sectionLink('Add SSH key'),
        );
  return {
    title: 'SSH keys',
    section: 'keys',
    header: { actions: sectionLink('Add SSH key') },
    body: html`${list}
${pager(data)}
${section('Add SSH key', addForm(data.forms))}`,
  };
}

function addForm(forms: FormContext): Html {
  const fields = new Fields(forms, 'add');
  return form(
    forms,
    { name: 'add' },
    html`${fields.text('name', 'Name', { required: true, maxLength: 63, autocomplete: 'off' })}
${fields.textarea('public_key', 'Public key', {
  rows: 4,
  required: true,
  hint: 'The line in ~/.ssh/id_ed25519.pub. Ed25519, ECDSA, or RSA with at least 2048 bits.',
})}
<button>Add SSH key</button>`,
  );
}

export function sshKeyView(data: { readonly key: SshKey; readonly forms: FormContext }): View {
  const { key, forms } = data;
  return {
    title: key.name,
    section: 'keys',
    breadcrumbs: [['SSH keys', PANEL_PATHS.keys]],
    body: html`${detailList([
      ['Type', key.type],
      ['Fingerprint', html`<code>${key.fingerprint}</code>`],
      ['Public key', html`<code class="copy" data-copy>${key.public_key}</code>`],
      ['Added', day(key.created_at)],
      ['ID', html`<code>${key.id}</code>`],
    ])}
${section(
  'Delete',
  html`<p>Servers that were installed with this key keep it.</p>
${form(forms, { name: 'delete' }, html`<button class="danger">Delete SSH key</button>`)}`,
)}`,
  };
}
