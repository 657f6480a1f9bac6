/** SSH key pages. */
import { getSshKey, listSshKeys } from '../../../domain/ssh-keys/read.ts';
import { sshKeysView, sshKeyView } from '../../../panel/account/ssh-keys.ts';
import { PANEL_PATHS } from '../../../spec/paths.ts';
import { bodyReader, text, untrimmedText } from '../field-readers.ts';
import { readList } from '../list.ts';
import { type PanelPage, page, restForm } from '../page-types.ts';

export const SSH_KEY_PAGES: readonly PanelPage[] = [
  {
    path: PANEL_PATHS.keys,
    access: 'customer',
    readOperations: ['ssh_keys.list'],
    render: async (context) => {
      const list = await readList(context, 'ssh_keys.list', (page) =>
        listSshKeys(context.service, context.customer(), page),
      );
      return sshKeysView({ keys: list.items, next: list.next, first: list.first, forms: context.forms });
    },
    forms: {
      add: restForm({
        operation: 'ssh_keys.create',
        body: bodyReader({ name: untrimmedText, public_key: text }),
        done: () => ({ to: PANEL_PATHS.keys, notice: 'key_added' }),
      }),
    },
  },
  page({
    path: `${PANEL_PATHS.keys}/{id}`,
    access: 'customer',
    readOperations: ['ssh_keys.get'],
    render: async (look) => {
      const key = await getSshKey(look.service, look.customer(), look.params.id);
      return sshKeyView({ key, forms: look.forms });
    },
    forms: {
      delete: restForm({
        operation: 'ssh_keys.delete',
        done: () => ({ to: PANEL_PATHS.keys, notice: 'key_deleted' }),
      }),
    },
  }),
];
