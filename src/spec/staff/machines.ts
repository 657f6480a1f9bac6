/** The operations on the machines of the host, and on what servers take from its stock. */
import { act, HOSTS, manage, OWNER, read } from './roles.ts';

export const MACHINE_OPERATIONS = {
  'hosts.list': read('hosts list', 'List hosts'),
  'hosts.get': read('hosts show', 'Show a host'),
  'hosts.add': manage('hosts add', 'Add a host', HOSTS),
  'hosts.invite': manage('hosts invite', 'Add a host on another machine', HOSTS),
  'hosts.drain': manage('hosts drain', 'Place no new servers on a host', HOSTS),
  'hosts.undrain': manage('hosts undrain', 'Place servers on a host again', HOSTS),
  'hosts.move_all': act('hosts drain', 'Move everything off a host', HOSTS),
  'hosts.resize': manage('hosts resize', 'Change the capacity of a host', HOSTS),
  'hosts.set': manage('hosts set', 'Set the tags and the reserve of a host', HOSTS),
  'hosts.remove': act('hosts remove', 'Remove an empty host', HOSTS),
  'hosts.revoke': act('hosts revoke', 'Never call a host again', HOSTS),
  'hosts.lose': act('hosts lost', 'Give up a host with all data on its disks', OWNER),
  'hosts.fence': act('hosts fenced', 'Confirm that a lost host is off for good', HOSTS),
} as const;
