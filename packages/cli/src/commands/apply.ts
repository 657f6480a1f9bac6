import { command } from '../command.ts';
import { flag, type Option } from '../options.ts';
import { YES_OPTION } from '../terminal/terminal.ts';
import { WAIT_OPTIONS } from '../terminal/wait.ts';

const FILE_OPTION: Option<readonly string[]> = {
  value: 'path',
  about: 'YAML or JSON file; - is stdin',
  required: true,
  repeatable: true,
  short: 'f',
  parse: (texts) => texts ?? [],
};

export const apply = command({
  name: 'apply',
  about: 'Create, change, or delete servers, volumes, firewalls, alerts, and SSH keys to match a file',
  help:
    'Compares the file with your account and shows the changes with their cost. Applies them after you\n' +
    'confirm. A second run changes nothing. Servers of the file get the label skerry-project=PROJECT:\n' +
    'the project name in the file. Servers with that label that are no longer in the file are deleted.\n' +
    'Volumes, firewall groups, alerts, and SSH keys that are no longer in the file stay, like everything\n' +
    'else in your account. `absent: true` in the file deletes a volume, group, or alert.',
  operations: [
    'servers.list',
    'servers.create',
    'servers.update',
    'servers.rebuild',
    'servers.resize',
    'quotes.create',
    'backup_policies.get',
    'backup_policies.replace',
    'servers.delete',
    'servers.set_rdns',
    'volumes.list',
    'volumes.create',
    'volumes.update',
    'volumes.attach',
    'volumes.detach',
    'volumes.delete',
    'firewall_groups.list',
    'firewall_groups.create',
    'firewall_groups.update',
    'firewall_groups.delete',
    'firewall_rules.replace',
    'servers.stop',
    'ssh_keys.list',
    'ssh_keys.create',
    'alerts.list',
    'alerts.create',
    'alerts.update',
    'alerts.delete',
    'snapshots.list',
    'images.list',
    'plans.list',
    'regions.list',
    'balance.get',
    'actions.of_server',
    'actions.get',
    'audit_events.list',
    'events.stream',
  ],
  options: {
    file: FILE_OPTION,
    dryRun: flag('Show the changes without applying them'),
    resize: flag('Resize servers with another plan instead of replacing them, and restart them (beta)'),
    yes: YES_OPTION,
    ...WAIT_OPTIONS,
  },
  example: 'skerry apply -f skerry.yaml --dry-run',
  // Loaded on demand: no other command needs this much code.
  run: async (context, given) => (await import('../apply/apply.ts')).apply(context, given),
});
