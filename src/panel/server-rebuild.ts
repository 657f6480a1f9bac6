/** Installing a server anew, and its rescue system. */
import type { Image } from '../spec/schemas/image.ts';
import type { ListedSshKey } from '../spec/schemas/ssh-key.ts';
import { copyable, detailList, section } from './components.ts';
import { Fields, type FormContext, form } from './form.ts';
import { Html, html } from './html.ts';
import { imageChoices } from './image-names.ts';
import type { View } from './layout.ts';
import { blockedReason, type ServerPage, serverView } from './server-layout.ts';

export interface RebuildData extends ServerPage {
  readonly images: readonly Image[];
  readonly keys: readonly ListedSshKey[];
  /** What signs in to the rescue system, on the one page that shows it. */
  readonly rescue: { readonly username: string; readonly password: string } | null;
  readonly forms: FormContext;
}

export function rebuildView(data: RebuildData): View {
  return serverView(
    data,
    'rebuild',
    html`${data.rescue && rescueCredentials(data.rescue, data)}
${section('Rescue system', rescueForm(data))}
${section('Rebuild', rebuildForm(data))}`,
  );
}

function rescueCredentials(
  { username, password }: NonNullable<RebuildData['rescue']>,
  { server }: RebuildData,
): Html {
  return html`<div class="once"><h2>The rescue system boots</h2>
<p>Sign in by SSH or on the console within a minute. This password is shown once and ends with the next reboot.</p>
${detailList([
  ['Address', server.ipv4 && copyable(server.ipv4.address)],
  ['User', copyable(username)],
  ['Password', copyable(password)],
])}</div>`;
}

function rescueForm(data: RebuildData): Html {
  const blocked = blockedReason(data, 'rescue');
  if (blocked !== null) return html`<p>${blocked}</p>`;
  return html`<p>The server reboots into a small system of its own, with its disk beside it: for repairs. The next reboot leaves it. Its
password is shown once.</p>
${form(data.forms, { name: 'rescue' }, html`<button class="plain">Boot the rescue system</button>`)}`;
}

function rebuildForm(data: RebuildData): Html {
  const { forms, server } = data;
  const blocked = blockedReason(data, 'rebuild');
  if (blocked !== null) return html`<p>${blocked}</p>`;
  const fields = new Fields(forms, 'rebuild');
  const hasKeys = server.ssh_keys.length > 0;
  return html`<p><strong>What is on the disk of ${server.name} is lost.</strong> Addresses, volumes and snapshots stay.</p>
${form(
  forms,
  { name: 'rebuild' },
  html`${fields.select('image', 'Image', { choices: [['', 'the one that it has now'], ...imageChoices(data.images)] })}
${keyBoxes(data, fields, hasKeys)}
<details${fields.value('user_data') !== '' && new Html(' open')}><summary>User data</summary>
${fields.textarea('user_data', 'User data', { rows: 8, hint: 'For cloud-init, as plain text of at most 64 KiB. What was given before is not applied again.' })}</details>
<button class="danger">Rebuild the server</button>`,
)}`;
}

function keyBoxes({ keys }: RebuildData, fields: Fields, hasKeys: boolean): Html {
  const problem = fields.problem('ssh_keys') !== null;
  const boxes = keys.map(
    ({ id, name }) =>
      html`<label class="choice"><input type="checkbox" name="ssh_keys.${id}"${fields.isChecked(`ssh_keys.${id}`, false) && new Html(' checked')}> <span>${name}</span></label>\n`,
  );
  const hint = hasKeys ? 'Tick none to keep those that it has.' : 'It has none: tick one at least.';
  return html`<fieldset${problem && html` aria-describedby="${fields.id('ssh_keys')}-problem"`}><legend>SSH keys of root</legend>
${boxes}${fields.notes('ssh_keys', hint)}</fieldset>`;
}
