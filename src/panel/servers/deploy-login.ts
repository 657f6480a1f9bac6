/** How the owner of a new server signs in to it: with SSH keys, saved or pasted here, or with a password. */
import { LIMITS } from '../../spec/limits.ts';
import type { Fields } from '../parts/form.ts';
import { Html, html } from '../parts/html.ts';
import { labelsOf } from '../parts/labels.ts';
import { checkbox, choiceGroup } from './deploy-choices.ts';
import type { DeployData } from './deploy-data.ts';

/** Styles hide the fields of the other choice where they can, except a password that was refused. */
export function loginChoice(data: DeployData, fields: Fields): Html {
  const chosen = data.given.get('login') === 'password' ? 'password' : 'key';
  const isRefused = fields.problem('root_password') !== null;
  const radio = (value: string, label: string) =>
    fields.radio('login', value, label, { checked: value === chosen });
  return html`<fieldset class="login"><legend>Sign in with</legend>
${radio('key', 'SSH key')}${radio('password', 'Password')}
<div class="with-key">${keyFields(data, fields)}</div>
<div${isRefused ? '' : html` class="with-password"`}>${passwordField(data, fields, chosen)}</div>
</fieldset>`;
}

function keyFields({ keys, given, forms }: DeployData, fields: Fields): Html {
  // Preselect the only key.
  const ticked = (id: string) => (given.has('sent') ? given.has(`ssh_keys.${id}`) : keys.length === 1);
  const label = labelsOf(keys);
  const checked = new Set(keys.filter(({ id }) => ticked(id)).map(({ id }) => `ssh_keys.${id}`));
  const boxes = keys.map(({ id, name }) => checkbox(`ssh_keys.${id}`, label({ id, name }), checked));
  const value = (name: string) => given.get(name) ?? '';
  const paste = html`${fields.textarea('key_text', 'Paste a public key', {
    value: value('key_text'),
    rows: 3,
    maxLength: LIMITS.sshPublicKeyMaxChars,
    hint: 'The line in ~/.ssh/id_ed25519.pub. We save it with your SSH keys.',
  })}
${fields.text('key_name', 'Name of this key', {
  value: value('key_name'),
  maxLength: LIMITS.nameMaxChars,
  autocomplete: 'off',
  hint: 'Optional. Without one, the key has the name of the server.',
})}`;
  if (keys.length === 0) return html`${fields.notes('ssh_keys')}${paste}`;
  const open =
    value('key_text') !== '' || forms.problems.some(({ field }) => /^key_(text|name)$/.test(field));
  return html`${choiceGroup(fields, 'ssh_keys', 'SSH keys', html`${boxes}`)}
<details${open && new Html(' open')}><summary>Use another key</summary>
${paste}</details>`;
}

function passwordField({ given }: DeployData, fields: Fields, chosen: string): Html {
  // A page never contains a password, so it is gone whenever the form is shown again.
  const isGone = chosen === 'password' && given.has('sent');
  return html`${isGone && html`<p class="banner warn">Enter the password again. We never send it back.</p>`}
${fields.text('root_password', 'Root password', {
  type: 'password',
  autocomplete: 'new-password',
  hint: 'At least 12 characters. SSH keys are safer: a password can be guessed.',
})}`;
}
