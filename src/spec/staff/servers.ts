/** The operations on servers, and on the work that is under way on them. */
import { act, MACHINES, manage, OWNER, read } from './roles.ts';

export const SERVER_OPERATIONS = {
  'servers.list': read('servers list', 'List and search servers'),
  'servers.get': read('servers show', 'Show a server'),
  'servers.power': act('servers power', 'Start, stop, or restart a server', MACHINES),
  'servers.rescue': act('servers rescue', 'Boot a server into the rescue system', MACHINES),
  'servers.open_console': act('servers console', 'Open the console of a server', MACHINES),
  'servers.move': act('servers move', 'Move a server to another host', MACHINES),
  'servers.resize': act('servers resize', 'Give a server another plan', MACHINES),
  'servers.rebuild': act('servers rebuild', 'Install a server again', OWNER),
  'servers.delete': act('servers delete', 'Delete a server', OWNER),
  'servers.freeze': act('servers freeze', 'Power off a server and make it read-only', MACHINES),
  'servers.hold': act('servers hold', 'Preserve a server and its disk for a legal order', OWNER),
  'servers.release': act('servers release', 'Lift the freeze of a server', MACHINES),
  'servers.release_hold': act('servers release', 'Lift the legal hold of a server', OWNER),
  'servers.set_mail': act('servers mail', 'Allow or block outbound SMTP of a server', MACHINES),
  'operations.list': read('operations list', 'List the work that is under way on servers'),
  'operations.get': read('operations show', 'Show the work on a server, step by step'),
  'operations.retry': manage('operations retry', 'Try the current step of a server again now', MACHINES),
  'operations.give_up': act('operations give-up', 'End the work on a server as failed', MACHINES),
} as const;
