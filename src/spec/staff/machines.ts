/** The operations on the machines of the host, and on what servers take from its stock. */
import { act, HOSTS, MACHINES, manage, OWNER, read } from './roles.ts';

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
  'machines.list': read('dedicated list', 'List dedicated machines and the work that is due on them'),
  'machines.get': read('dedicated list', 'Show a dedicated machine'),
  'machines.add': manage('machines add', 'Add dedicated machines to the stock', HOSTS),
  'machines.remove': act('machines remove', 'Remove a dedicated machine from the stock', HOSTS),
  'machines.fulfill': act('dedicated fulfil', 'Sell a dedicated machine to a customer', MACHINES),
  'machines.record_power': manage('dedicated off', 'Record that a machine is off or on', HOSTS),
  'machines.record_wipe': act('dedicated wipe', 'Record that a machine was wiped and tested', HOSTS),
  'machines.put_on_sale': act('dedicated wipe', 'Put a wiped machine back on sale', HOSTS),
} as const;
