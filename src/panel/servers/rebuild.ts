/** Rebuilding a server, its rescue system, and its drive for ISO images. */
import { serverPagePath } from '../../spec/paths.ts';
import type { Image } from '../../spec/schemas/image.ts';
import type { ListedSshKey } from '../../spec/schemas/ssh-key.ts';
import { copyable, detailList, section } from '../parts/components.ts';
import { Fields, type FormContext, form } from '../parts/form.ts';
import { Html, html } from '../parts/html.ts';
import { labelsOf } from '../parts/labels.ts';
import type { View } from '../parts/layout.ts';
import { part } from '../parts/live.ts';
import { protectedNote } from '../parts/protection.ts';
import { imageChoices } from '../resources/images.ts';
import { isoSection } from './iso.ts';
import { blockedReason, type ServerPage, serverView } from './layout.ts';

interface RebuildData extends ServerPage {
  readonly images: readonly Image[];
  readonly keys: readonly ListedSshKey[];
  /** The rescue system's credentials; null except on the one page that shows them. */
  readonly rescue: { readonly username: string; readonly password: string } | null;
  readonly forms: FormContext;
}

export function rebuildView(data: RebuildData): View {
  return serverView(
    data,
    'rebuild',
    html`${data.rescue && rescueCredentials(data.rescue, data)}
${part('rescue', section('Rescue system', rescueForm(data)))}
${part('iso', section('ISO image', isoSection(data)))}
${part('rebuild', section('Rebuild', rebuildForm(data)))}`,
  );
}

function rescueCredentials(
  { username, password }: NonNullable<RebuildData['rescue']>,
  { server }: RebuildData,
): Html {
  return html`<div class="once"><h2>Booting the rescue system</h2>
<p>You can sign in over SSH or in the console within a minute. This password is shown once and works until
the next restart.</p>
${detailList([
  ['Address', server.ipv4 && copyable(server.ipv4.address)],
  ['User', copyable(username)],
  ['Password', copyable(password)],
])}</div>`;
}

function rescueForm(data: RebuildData): Html {
  const blocked = blockedReason(data, 'rescue');
  if (blocked !== null) return html`<p>${blocked}</p>`;
  return html`<p>The server restarts into a small repair system with its disk attached. To leave it, restart
the server. On the next page, we show the root password of the rescue system once.</p>
${form(data.forms, { name: 'rescue' }, html`<button class="plain">Boot rescue system</button>`)}`;
}

function rebuildForm(data: RebuildData): Html {
  const { forms, server } = data;
  const blocked = blockedReason(data, 'rebuild');
  if (blocked !== null) return html`<p>${blocked}</p>`;
  if (server.protection.rebuild) {
    const settings = serverPagePath(server.id, 'settings');
    return protectedNote('The disk of this server is protected from rebuild.', settings);
  }
  const fields = new Fields(forms, 'rebuild');
  const hasKeys = server.ssh_keys.length > 0;
  const isFilled = fields.value('user_data') !== '';
  const imageOptions = [['', 'Current image'] as const, ...imageChoices(data.images)];
  return html`<p><strong>All data on the disk of ${server.name} is lost.</strong> Addresses, volumes, and
snapshots are kept.</p>
${form(
  forms,
  { name: 'rebuild' },
  html`${fields.select('image', 'Image', { choices: imageOptions })}
${keyBoxes(data, fields, hasKeys)}
<details${isFilled && new Html(' open')}><summary>User data</summary>
${fields.textarea('user_data', 'User data', {
  rows: 8,
  hint: 'For cloud-init, up to 64 KiB of text. Your previous user data is not applied again.',
})}</details>
<button class="danger">Rebuild server</button>`,
)}`;
}

function keyBoxes({ keys }: RebuildData, fields: Fields, hasKeys: boolean): Html {
  const problem = fields.problem('ssh_keys') !== null;
  const label = labelsOf(keys);
  const boxes = keys.map(({ id, name }) => {
    const checked = fields.isChecked(`ssh_keys.${id}`, false) && new Html(' checked');
    const input = html`<input type="checkbox" name="ssh_keys.${id}"${checked}>`;
    return html`<label class="choice">${input} <span>${label({ id, name })}</span></label>\n`;
  });
  const hint = hasKeys
    ? 'Select none to keep the current keys.'
    : 'The server has no keys. Select at least one.';
  const described = problem && html` aria-describedby="${fields.id('ssh_keys')}-problem"`;
  return html`<fieldset${described}><legend>SSH keys</legend>
${boxes}${fields.notes('ssh_keys', hint)}</fieldset>`;
}
