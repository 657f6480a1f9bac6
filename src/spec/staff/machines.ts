/** The operations on servers and on the machines of the host. */
import { act, HOSTS, MACHINES, manage, OWNER, read } from './roles.ts';

export const MACHINE_OPERATIONS = {
  'servers.list': read('servers list', 'List servers'),
  'servers.get': read('servers show', 'Show a server'),
  'servers.freeze': act('servers freeze', 'Power off a server and make it read-only', MACHINES),
  'servers.hold': act('servers hold', 'Preserve a server and its disk for a legal order', OWNER),
  'servers.release': act('servers release', 'Lift the freeze of a server', MACHINES),
  'servers.release_hold': act('servers release', 'Lift the legal hold of a server', OWNER),
  'servers.set_mail': act('servers mail', 'Allow or block outbound SMTP of a server', MACHINES),
  'hosts.list': read('hosts list', 'List hosts'),
  'hosts.get': read('hosts show', 'Show a host'),
  'hosts.drain': manage('hosts drain', 'Place no new servers on a host', HOSTS),
  'hosts.undrain': manage('hosts undrain', 'Place servers on a host again', HOSTS),
} as const;
