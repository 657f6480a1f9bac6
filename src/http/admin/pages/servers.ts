import { CONSOLE_PATHS } from '../../../panel/staff/layout.ts';
import type { ConsoleNotice } from '../../../panel/staff/notices.ts';
import { type StaffServer, serverPath, serversView, serverView } from '../../../panel/staff/servers.ts';
import type { StaffOperation } from '../../../spec/staff/operations.ts';
import { SERVER_STATUSES } from '../../../spec/states.ts';
import { type Form, field } from '../../form.ts';
import type { ConsolePage, OperationForm } from '../page.ts';
import { readFiltered } from './lists.ts';

function actOn(
  operation: StaffOperation,
  notice: ConsoleNotice,
  body: (form: Form) => object = () => ({}),
): OperationForm {
  return { operation, body, done: (_answer, { id = '' }) => ({ to: serverPath(id), notice }) };
}

export const SERVER_PAGES: readonly ConsolePage[] = [
  {
    path: CONSOLE_PATHS.servers,
    access: 'staff',
    render: async ({ query, read }) => {
      const filter = {
        customer: field(query, 'customer').trim(),
        status: field(query, 'status'),
        region: field(query, 'region').trim(),
        host: field(query, 'host').trim(),
      };
      const { data, next } = await readFiltered<StaffServer>(
        { query, read },
        'servers.list',
        filter,
        CONSOLE_PATHS.servers,
      );
      return serversView({ filter, statuses: SERVER_STATUSES, servers: data, next });
    },
  },
  {
    path: `${CONSOLE_PATHS.servers}/{id}`,
    access: 'staff',
    render: async ({ params, forms, read, may }) =>
      serverView({
        forms,
        server: await read<StaffServer>('servers.get', params),
        may: { freeze: may('servers.freeze'), hold: may('servers.hold'), setMail: may('servers.set_mail') },
      }),
    forms: {
      freeze: actOn('servers.freeze', 'server_frozen', (form) => ({ message: field(form, 'message') })),
      hold: actOn('servers.hold', 'server_held', (form) => ({ order: field(form, 'order') })),
      release: actOn('servers.release', 'server_released'),
      release_hold: actOn('servers.release_hold', 'server_released'),
      mail: actOn('servers.set_mail', 'mail_changed', (form) => ({
        allowed: field(form, 'allowed') === 'yes',
      })),
    },
  },
];
