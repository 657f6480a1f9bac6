/** SSH keys in the panel. */
import { getSshKey, listSshKeys } from '../../domain/ssh-keys/find.ts';
import { sshKeysView, sshKeyView } from '../../panel/ssh-keys.ts';
import { PANEL_PATHS } from '../../spec/paths.ts';
import { asTyped, body, text } from './fields.ts';
import { readList } from './list.ts';
import { type PanelPage, restForm } from './page.ts';

export const SSH_KEY_PAGES: readonly PanelPage[] = [
  {
    path: PANEL_PATHS.keys,
    access: 'customer',
    shows: ['ssh_keys.list'],
    show: async (look) => {
      const list = await readList(look, 'ssh_keys.list', (page) =>
        listSshKeys(look.service, look.customer(), page),
      );
      return sshKeysView({ keys: list.items, next: list.next, first: list.first, forms: look.forms });
    },
    forms: {
      add: restForm({
        does: 'ssh_keys.create',
        body: body({ name: asTyped, public_key: text }),
        done: () => ({ to: PANEL_PATHS.keys, notice: 'key_added' }),
      }),
    },
  },
  {
    path: `${PANEL_PATHS.keys}/{id}`,
    access: 'customer',
    shows: ['ssh_keys.get'],
    show: async (look) => {
      const key = await getSshKey(look.service, look.customer(), look.params.id ?? '');
      return sshKeyView({ key, forms: look.forms });
    },
    forms: {
      delete: restForm({
        does: 'ssh_keys.delete',
        done: () => ({ to: PANEL_PATHS.keys, notice: 'key_deleted' }),
      }),
    },
  },
];
