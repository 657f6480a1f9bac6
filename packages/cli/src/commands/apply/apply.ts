import { type Command, command } from '../../command.ts';
import { flag, type Option } from '../../options.ts';
import { YES_OPTION } from '../../terminal/confirm.ts';
import { WAIT_OPTIONS } from '../../terminal/wait.ts';

const FILE_OPTION: Option<readonly string[]> = {
  value: 'path',
  about: 'YAML or JSON; - is stdin.',
  required: true,
  repeatable: true,
  short: 'f',
  parse: (texts) => texts ?? [],
};

const apply = command({
  name: 'apply',
  about: 'Make servers, volumes and firewalls what a file says',
  help:
    'Compares the file with the account, shows what is to be done, what it costs and what it destroys, asks, and does it.\n' +
    'A second run does nothing. Servers of the file carry the label skerry-project=…; those of it that the file has\n' +
    'no more are destroyed. What the file does not mention is left alone.',
  operations: [
    ...(['servers.list', 'servers.create', 'servers.update', 'servers.rebuild', 'servers.delete'] as const),
    ...(['servers.set_rdns', 'volumes.list', 'volumes.create', 'volumes.update', 'volumes.attach'] as const),
    ...(['volumes.detach', 'volumes.delete', 'firewall_groups.list', 'firewall_groups.create'] as const),
    ...(['firewall_groups.update', 'firewall_groups.delete', 'firewall_rules.replace'] as const),
    ...([
      'servers.stop',
      'ssh_keys.list',
      'ssh_keys.create',
      'images.list',
      'plans.list',
      'regions.list',
    ] as const),
    ...(['balance.get', 'audit_events.list'] as const),
  ],
  options: {
    file: FILE_OPTION,
    dryRun: flag('Show what is to be done, and do nothing.'),
    yes: YES_OPTION,
    ...WAIT_OPTIONS,
  },
  example: 'skerry apply -f skerry.yaml --dry-run',
  // Loaded here: no other command needs so much.
  run: async (context, given) => (await import('../../apply/apply.ts')).apply(context, given),
});

export const APPLY_COMMANDS: readonly Command[] = [apply];
