/** The operations on the machines of the host. */
import { HOSTS, manage, read } from './roles.ts';

export const MACHINE_OPERATIONS = {
  'hosts.list': read('hosts list', 'List hosts'),
  'hosts.get': read('hosts show', 'Show a host'),
  'hosts.drain': manage('hosts drain', 'Place no new servers on a host', HOSTS),
  'hosts.undrain': manage('hosts undrain', 'Place servers on a host again', HOSTS),
} as const;
